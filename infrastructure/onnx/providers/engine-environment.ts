import { inherited } from '../../node/inherited.ts'

/** All that Node and native libraries need of our environment; the last two say which Vulkan driver to take where the system has several. */
const INHERITED = ['PATH', 'NODE_COMPILE_CACHE', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'SystemRoot', 'VK_ICD_FILENAMES', 'VK_DRIVER_FILES']

/** The environment of a process that loads onnxruntime. Without the switch its native library tells its maker of every session (B39). */
export const engineEnvironment = (): Readonly<Record<string, string>> => ({ ...inherited(INHERITED), ORT_DISABLE_TELEMETRY: '1' })
