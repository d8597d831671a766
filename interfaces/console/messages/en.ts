import { frame } from './english/frame.ts'
import { problems } from './english/problems.ts'

/** Every text of the console, by name. */
export const en = { ...frame, ...problems } as const
