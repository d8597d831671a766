import { stat } from 'node:fs/promises'

export const pathExists = (path: string): Promise<boolean> => stat(path).then(() => true, () => false)

/** Whether a failed access proves that nothing exists at the path. Other failures, such as EACCES, prove nothing. */
export const provesAbsence = ({ code }: NodeJS.ErrnoException): boolean => code === 'ENOENT' || code === 'ENOTDIR'
