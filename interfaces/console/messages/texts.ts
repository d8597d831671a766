import { administration } from './english/administration.ts'
import { frame, problems } from './english/frame.ts'
import { sessions, userPages } from './english/sessions.ts'
import { settings, speak } from './english/speak.ts'

export const en = {
  ...administration, ...frame, ...problems, ...sessions, ...settings, ...speak, ...userPages,
} as const

/** A name of a text. Another language would be a `Record` over all names, so a missing text is a type error. */
export type TextName = keyof typeof en

type Values = Readonly<Record<string, string | number>>

/** Pseudo texts test the layout. They are about 50 % longer than the English texts, and run from right to left. */
const isPseudo = new URLSearchParams(location.search).get('texts') === 'pseudo'
export const [LOCALE, DIRECTION] = isPseudo ? ['en', 'rtl'] : ['en', 'ltr']

const stretched = (text: string): string => {
  const letters = text.replaceAll(/\{\w+\}|[aeiou]/g, (part) => (part.startsWith('{') ? part : `${part}${part}`))
  return `⟦${letters}⟧`
}

/** Returns a text. Each `{name}` in it is replaced by the value of this name. */
export const t = (name: TextName, values: Values = {}): string => {
  const text: string = isPseudo ? stretched(en[name]) : en[name]
  return text.replaceAll(/\{(\w+)\}/g, (whole, value: string) => String(values[value] ?? whole))
}

const number = new Intl.NumberFormat(LOCALE)
const moment = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' })

const languages = new Intl.DisplayNames(LOCALE, { type: 'language', fallback: 'code' })

/** Returns the English name of a language code: `Spanish` for `es`. */
export const languageName = (code: string): string => {
  try {
    return languages.of(code) ?? code
  } catch {
    return code
  }
}

export const formatNumber = (value: number): string => number.format(value)
export const formatMoment = (at: string | null): string => (at === null ? '–' : moment.format(new Date(at)))
export const formatClock = (at: string): string => clock.format(new Date(at))

const twoDigits = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** Formats seconds as `02:14`, or as `1:02:14` from one hour. */
export const formatSpan = (seconds: number): string => {
  const hours = Math.floor(seconds / 3600)
  return `${hours > 0 ? `${hours}:` : ''}${twoDigits((seconds % 3600) / 60)}:${twoDigits(seconds % 60)}`
}
