import { inheritedVariables } from '../../node/inherited-variables.ts'

/** Says which Vulkan driver to take where the system has several, and where it may put its files. */
const VULKAN = ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES', 'XDG_RUNTIME_DIR']

/** The provider to take, whatever the trials say; only for tests, which have a GPU made of software, rightly refused as slow. */
export const TEST_PROVIDER = 'STENOLOG_TEST_PROVIDER'

/** All that Node and native libraries need of our environment. */
const INHERITED = ['PATH', 'NODE_COMPILE_CACHE', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'SystemRoot', ...VULKAN, TEST_PROVIDER]

/** The environment of a process that loads onnxruntime. Without the switch its native library tells its maker of every session (B39). */
export const engineEnvironment = (): Readonly<Record<string, string>> => ({ ...inheritedVariables(INHERITED), ORT_DISABLE_TELEMETRY: '1' })
