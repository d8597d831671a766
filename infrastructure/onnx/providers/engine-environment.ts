import { inheritedVariables } from '../../node/inherited-variables.ts'

/** Says which Vulkan driver to take where the system has several, and where it may put its files. */
const VULKAN = ['VK_ICD_FILENAMES', 'VK_DRIVER_FILES', 'XDG_RUNTIME_DIR']

/** The provider to take, whatever the trials say; only for tests, which have a GPU made of software, rightly refused as slow. */
export const TEST_PROVIDER = 'STENOLOG_TEST_PROVIDER'

/** All that Node and native libraries need of our environment. */
const INHERITED = ['PATH', 'NODE_COMPILE_CACHE', 'LD_LIBRARY_PATH', 'CUDA_VISIBLE_DEVICES', 'SystemRoot', ...VULKAN, TEST_PROVIDER]

/**
 * Returns the environment of a process that loads onnxruntime, with telemetry off.
 *
 * @param gpu id of the only GPU that CUDA shows to the process; undefined: all GPUs that it shows to this process
 */
export const engineEnvironment = (gpu?: string): Readonly<Record<string, string>> => ({
  ...inheritedVariables(INHERITED),
  ORT_DISABLE_TELEMETRY: '1',
  // Else CUDA numbers GPUs by speed, and CUDA_VISIBLE_DEVICES=1 is not the GPU 1 of nvidia-smi.
  CUDA_DEVICE_ORDER: 'PCI_BUS_ID',
  ...(gpu !== undefined && { CUDA_VISIBLE_DEVICES: gpu }),
})
