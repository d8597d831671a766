import { administration } from './english/administration.ts'
import { frame } from './english/frame.ts'
import { problems } from './english/problems.ts'
import { own, sessions } from './english/sessions.ts'
import { settings, speak } from './english/speak.ts'

/** Every text of the console, by name. */
export const en = { ...administration, ...frame, ...own, ...problems, ...sessions, ...settings, ...speak } as const
