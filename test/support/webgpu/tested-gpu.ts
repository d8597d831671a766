import { inheritedVariables } from '../../../infrastructure/process/inherited-variables.ts'
import { TEST_PROVIDER } from '../../../infrastructure/onnx/providers/engine-environment.ts'
import type { GpuProvider } from '../../../infrastructure/onnx/providers/execution-provider.ts'
import { SWIFTSHADER, SWIFTSHADER_ENVIRONMENT } from './swiftshader.ts'

const named = process.env[TEST_PROVIDER]
const isReal = named === 'webgpu' || named === 'cuda'

/** The GPU of the tests: the machine's own GPU if STENOLOG_TEST_PROVIDER is set, else SwiftShader. */
export const TESTED_GPU: {
  readonly provider: GpuProvider
  /** Environment with which a process finds the driver. */
  readonly environment: Readonly<Record<string, string>>
  /** Files that must exist. */
  readonly needs: ReadonlyArray<string>
  /** Whether outputs stay in the memory of the GPU. */
  readonly keepsOutputs: boolean
} = {
  provider: isReal ? named : 'webgpu',
  environment: isReal
    ? inheritedVariables(['LD_LIBRARY_PATH', 'VK_DRIVER_FILES', 'VK_ICD_FILENAMES', 'XDG_RUNTIME_DIR'])
    : SWIFTSHADER_ENVIRONMENT,
  needs: isReal ? [] : [SWIFTSHADER],
  keepsOutputs: named !== 'cuda',
}
