import { stat } from 'node:fs/promises'

/** Whether a file or folder exists at this path. */
export const pathExists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)
