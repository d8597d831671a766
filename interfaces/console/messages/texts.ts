import { administration } from './english/administration.ts'
import { frame, problems } from './english/frame.ts'
import { own, sessions } from './english/sessions.ts'
import { settings, speak } from './english/speak.ts'

/** Every text of the console, by name. */
export const en = { ...administration, ...frame, ...own, ...problems, ...sessions, ...settings, ...speak } as const

/** Names of texts. Other languages are a `Record` of all of them, so that a missing one is a type error. */
export type TextName = keyof typeof en

type Values = Readonly<Record<string, string | number>>

/** For tests of the layout: texts of half as much again, from right to left. */
const isPseudo = new URLSearchParams(location.search).get('texts') === 'pseudo'
export const [LOCALE, DIRECTION] = isPseudo ? ['en', 'rtl'] : ['en', 'ltr']

const stretched = (text: string): string => {
  const letters = text.replaceAll(/\{\w+\}|[aeiou]/g, (part) => (part.startsWith('{') ? part : `${part}${part}`))
  return `⟦${letters}⟧`
}

/** A text of the interface, with `{name}` replaced by the value of that name. */
export const t = (name: TextName, values: Values = {}): string => {
  const text: string = isPseudo ? stretched(en[name]) : en[name]
  return text.replaceAll(/\{(\w+)\}/g, (whole, value: string) => String(values[value] ?? whole))
}

const number = new Intl.NumberFormat(LOCALE)
const moment = new Intl.DateTimeFormat(LOCALE, { dateStyle: 'medium', timeStyle: 'short' })
const clock = new Intl.DateTimeFormat(LOCALE, { timeStyle: 'medium' })

const languages = new Intl.DisplayNames(LOCALE, { type: 'language', fallback: 'code' })

/** `es` as `Spanish`. */
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

const two = (value: number): string => String(Math.floor(value)).padStart(2, '0')

/** `02:14`, with hours where there are any. */
export const formatSpan = (seconds: number): string => {
  const hours = Math.floor(seconds / 3600)
  return `${hours > 0 ? `${hours}:` : ''}${two((seconds % 3600) / 60)}:${two(seconds % 60)}`
}
