import { inheritedVariables } from '../../process/inherited-variables.ts'

/** Variables that select a Vulkan driver, and the folder for its files. */
const VULKAN = ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES', 'XDG_RUNTIME_DIR']

/** Names the provider to use without a trial. Only for tests: their software GPU would fail the trial for speed. */
export const TEST_PROVIDER = 'STENOLOG_TEST_PROVIDER'

/** Variables that Node and native libraries need. */
const INHERITED = [
  'PATH', 'NODE_COMPILE_CACHE', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'SystemRoot', ...VULKAN, TEST_PROVIDER,
]

/**
 * Returns the environment of a process that loads onnxruntime. It switches off onnxruntime's telemetry.
 *
 * @param gpu id of the only GPU that CUDA shows to the process; undefined: all GPUs that it shows to this process
 */
export const engineEnvironment = (gpu?: string): Readonly<Record<string, string>> => ({
  ...inheritedVariables(INHERITED),
  ORT_DISABLE_TELEMETRY: '1',
  // Without this, CUDA numbers GPUs by speed, and GPU 1 differs from GPU 1 of nvidia-smi.
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  ...(gpu !== undefined && { CUDA_VISIBLE_DEVICES: gpu }),
})
