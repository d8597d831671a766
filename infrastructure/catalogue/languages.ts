import type { Language } from '../../application/ports/catalogue.ts'

/**
 * Whisper's languages in Whisper's order, so ids (from 1) never change. `haw` and `yue` are missing, because they
 * have no ISO 639-1 code. Javanese is `jv`, which Whisper calls `jw`.
 */
const LANGUAGES: ReadonlyArray<readonly [iso: string, name: string]> = [
  ['en', 'English'],
  ['zh', 'Chinese'],
  ['de', 'German'],
  ['es', 'Spanish'],
  ['ru', 'Russian'],
  ['ko', 'Korean'],
  ['fr', 'French'],
  ['ja', 'Japanese'],
  ['pt', 'Portuguese'],
  ['tr', 'Turkish'],
  ['pl', 'Polish'],
  ['ca', 'Catalan'],
  ['nl', 'Dutch'],
  ['ar', 'Arabic'],
  ['sv', 'Swedish'],
  ['it', 'Italian'],
  ['id', 'Indonesian'],
  ['hi', 'Hindi'],
  ['fi', 'Finnish'],
  ['vi', 'Vietnamese'],
  ['he', 'Hebrew'],
  ['uk', 'Ukrainian'],
  ['el', 'Greek'],
  ['ms', 'Malay'],
  ['cs', 'Czech'],
  ['ro', 'Romanian'],
  ['da', 'Danish'],
  ['hu', 'Hungarian'],
  ['ta', 'Tamil'],
  ['no', 'Norwegian'],
  ['th', 'Thai'],
  ['ur', 'Urdu'],
  ['hr', 'Croatian'],
  ['bg', 'Bulgarian'],
  ['lt', 'Lithuanian'],
  ['la', 'Latin'],
  ['mi', 'Maori'],
  ['ml', 'Malayalam'],
  ['cy', 'Welsh'],
  ['sk', 'Slovak'],
  ['te', 'Telugu'],
  ['fa', 'Persian'],
  ['lv', 'Latvian'],
  ['bn', 'Bengali'],
  ['sr', 'Serbian'],
  ['az', 'Azerbaijani'],
  ['sl', 'Slovenian'],
  ['kn', 'Kannada'],
  ['et', 'Estonian'],
  ['mk', 'Macedonian'],
  ['br', 'Breton'],
  ['eu', 'Basque'],
  ['is', 'Icelandic'],
  ['hy', 'Armenian'],
  ['ne', 'Nepali'],
  ['mn', 'Mongolian'],
  ['bs', 'Bosnian'],
  ['kk', 'Kazakh'],
  ['sq', 'Albanian'],
  ['sw', 'Swahili'],
  ['gl', 'Galician'],
  ['mr', 'Marathi'],
  ['pa', 'Punjabi'],
  ['si', 'Sinhala'],
  ['km', 'Khmer'],
  ['sn', 'Shona'],
  ['yo', 'Yoruba'],
  ['so', 'Somali'],
  ['af', 'Afrikaans'],
  ['oc', 'Occitan'],
  ['ka', 'Georgian'],
  ['be', 'Belarusian'],
  ['tg', 'Tajik'],
  ['sd', 'Sindhi'],
  ['gu', 'Gujarati'],
  ['am', 'Amharic'],
  ['yi', 'Yiddish'],
  ['lo', 'Lao'],
  ['uz', 'Uzbek'],
  ['fo', 'Faroese'],
  ['ht', 'Haitian Creole'],
  ['ps', 'Pashto'],
  ['tk', 'Turkmen'],
  ['nn', 'Nynorsk'],
  ['mt', 'Maltese'],
  ['sa', 'Sanskrit'],
  ['lb', 'Luxembourgish'],
  ['my', 'Myanmar'],
  ['bo', 'Tibetan'],
  ['tl', 'Tagalog'],
  ['mg', 'Malagasy'],
  ['as', 'Assamese'],
  ['tt', 'Tatar'],
  ['ln', 'Lingala'],
  ['ha', 'Hausa'],
  ['ba', 'Bashkir'],
  ['jv', 'Javanese'],
  ['su', 'Sundanese'],
]

/** Creation time of this list. All installations have the same languages. */
const CREATED_AT = '2026-11-21T00:00:00.000000+00:00'

/** All languages are active. Each model has its own list of languages that it transcribes. */
export const LANGUAGE_ROWS: ReadonlyArray<Language> = LANGUAGES.map(([iso, name], index) => ({
  id: index + 1,
  iso,
  name,
  active: true,
  createdAt: CREATED_AT,
  updatedAt: null,
}))

/** Whisper's languages without an ISO 639-1 code. */
export const FURTHER_LANGUAGES: ReadonlyArray<Language> = [
  ['haw', 'Hawaiian'],
  ['yue', 'Cantonese'],
].map(([iso = '', name = '']) => ({ id: 0, iso, name, active: true, createdAt: CREATED_AT, updatedAt: null }))

/** Converts a code of two or three letters to a listed code. Ignores region and script. Null: an unknown language. */
const isoOf = (code: string | null | undefined): string | null => {
  const base = code?.toLowerCase().split(/[-_]/, 1)[0] ?? ''
  const isListed = (iso: string | undefined): boolean => LANGUAGE_ROWS.some((row) => row.iso === iso)
  if (isListed(base)) return base
  const canonical = /^[a-z]{2,3}$/.test(base) ? Intl.getCanonicalLocales(base)[0] : undefined
  return canonical !== undefined && isListed(canonical) ? canonical : null
}

/**
 * Returns the languages of a translator: from its tokenizer (`source`, `target`), else from the end of its folder's
 * name (`opus-mt-en-es`, `translate-eng-spa`). Null when a language is unknown or both are equal.
 */
export const languagesOfTranslator = (
  folder: string,
  source: string | null,
  target: string | null,
): { readonly from: string; readonly to: string } | null => {
  // Removes `opus-mt` first, because `mt` is also the code of Maltese.
  const [, first, second] = /(?:^|[-_])([a-z]{2,3})[-_]([a-z]{2,3})$/i.exec(folder.replace(/^.*opus-mt[-_]/i, '')) ?? []
  const from = isoOf(source) ?? isoOf(first)
  const to = isoOf(target) ?? isoOf(second)
  return from === null || to === null || from === to ? null : { from, to }
}
