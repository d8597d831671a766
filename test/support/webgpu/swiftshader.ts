import { tmpdir } from 'node:os'

const FOLDER = '/usr/lib/chromium'

/** The description of SwiftShader, a GPU made of software, which Debian's chromium brings: for `testWith`. */
export const SWIFTSHADER = `${FOLDER}/vk_swiftshader_icd.json`

/** What a process needs to find it: a Vulkan loader lies beside it, and that wants a folder to run in. */
export const SWIFTSHADER_ENVIRONMENT = { VK_DRIVER_FILES: SWIFTSHADER, LD_LIBRARY_PATH: FOLDER, XDG_RUNTIME_DIR: tmpdir() }
