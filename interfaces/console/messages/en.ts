import { frame } from './english/frame.ts'
import { problems } from './english/problems.ts'
import { settings } from './english/settings.ts'
import { speak } from './english/speak.ts'

/** Every text of the console, by name. */
export const en = { ...frame, ...problems, ...settings, ...speak } as const
