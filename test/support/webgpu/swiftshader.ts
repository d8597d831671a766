import { tmpdir } from 'node:os'

const FOLDER = '/usr/lib/chromium'

/** Path of the description of SwiftShader, a software GPU in Debian's chromium. For `testWith`. */
export const SWIFTSHADER = `${FOLDER}/vk_swiftshader_icd.json`

/** Environment with which a process finds SwiftShader and its Vulkan loader, which needs a runtime folder. */
export const SWIFTSHADER_ENVIRONMENT = {
  VK_DRIVER_FILES: SWIFTSHADER,
  LD_LIBRARY_PATH: FOLDER,
  XDG_RUNTIME_DIR: tmpdir(),
}
