import { stat } from 'node:fs/promises'

/** Whether a path names something that can be looked at. */
export const isThere = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)
