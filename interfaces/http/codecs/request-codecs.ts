import * as t from 'io-ts'
import type { PageQuery } from '../../../application/ports/documents.ts'
import { DEFAULT_QUOTAS } from '../../../application/users/commands/register-user.ts'
import { boundedInteger, boundedString } from '../../../domain/shared/codecs.ts'
import { toInstant } from '../../../domain/shared/instants.ts'
import { nameProblem, SHAPELESS } from '../../../domain/shared/names.ts'
import { passwordProblem } from '../../../domain/user/credential-rules.ts'
import { permission } from '../../../domain/user/events.ts'
import { audioUrl, colour, LARGEST_TEXT, SMALLEST_TEXT } from './create-live-codec.ts'
import { type JsonSchema, shaped } from './shapes.ts'
import {
  checkedString, type Field, integerText, lastValue, listOf, members, omittable, optional, repeated,
} from './validation.ts'

const MAX_LIMIT = 1000
const MAX_SKIP = 2 ** 31 - 1

/** Query of every list. `pageOf` reduces a limit above 1000 to 1000. */
export const pagination = {
  skip: lastValue(optional(integerText(0, MAX_SKIP), 0)),
  limit: lastValue(optional(integerText(1, Infinity), 100)),
}

export const pageOf = (query: PageQuery): PageQuery => ({ skip: query.skip, limit: Math.min(query.limit, MAX_LIMIT) })

/** A filter. It accepts only items whose value equals the filter. */
const equalTo = lastValue(optional(boundedString(0, 200), null))

export const pageQuery = members(pagination)
export const languagesQuery = members({ ...pagination, name: equalTo, iso_639_1: equalTo, model: equalTo })
export const modelsQuery = members({ ...pagination, name: equalTo })
export const translationsQuery = members({ ...pagination, lang_from: equalTo, lang_to: equalTo })
const liveStatus = t.keyof({ pending: null, active: null, finished: null, error: null })
export const livesQuery = members({ ...pagination, status: repeated(liveStatus) })

const userId = lastValue(optional(integerText(1, Number.MAX_SAFE_INTEGER), null))

export const allLivesQuery = members({ ...pagination, status: repeated(liveStatus), user_id: userId })
export const ofUserQuery = members({ ...pagination, user_id: userId })

/** `chars_per_line` and `lines` have the bounds of the settings max_chars and max_lines. */
export const transcriptQuery = members({
  format: lastValue(optional(t.keyof({ json: null, txt: null, srt: null, vtt: null }), 'json' as const)),
  language: equalTo,
  chars_per_line: lastValue(optional(integerText(1, 1000), null)),
  lines: lastValue(optional(integerText(1, 100), 2)),
})

/**
 * Query of the caption page: its style and its language. Without `language` it shows the spoken language. `controls=1`
 * shows fields to change these values.
 */
export const embedQuery = members({
  background_color: lastValue(optional(colour, null)),
  color_text: lastValue(optional(colour, null)),
  size_text: lastValue(optional(integerText(SMALLEST_TEXT, LARGEST_TEXT), null)),
  language: lastValue(optional(boundedString(2, 3, /^[a-z]{2,3}$/), null)),
  controls: lastValue(optional(integerText(0, 1), 0)),
})

/** Any integer is valid. An id that no resource can have is reported as not found. */
export const pathId = members({ id: integerText(-Infinity, Infinity) })

/** The id of a session and the position of an entry in its history. */
export const pathEntry = members({ id: integerText(-Infinity, Infinity), entry: integerText(-Infinity, Infinity) })

/** A sent name or password. No form is longer. Longer than the rule for new ones is not an error, but simply wrong. */
const sentText = boundedString(0, 8192)

export const loginForm = members({ username: sentText, password: sentText })

export const logoutBody = members({ everywhere: optional(t.boolean, false) })

export const audioUrlBody = members({ audio_url: audioUrl })

/**
 * A string with a rule of the domain. `problemOf` returns null, or the end of a sentence such as `should not be empty`.
 * The error message puts `name` in front of it.
 */
const ruledString = (name: string, schema: JsonSchema, problemOf: (value: string) => string | null): Field<string> =>
  checkedString(name, schema, (value) => {
    const problem = problemOf(value)
    return problem === null ? null : `${name} ${problem}`
  })

/** Joiners are the exception: the rule allows them in emoji, and in scripts that need them. */
const SHOWN = String.raw`[^\p{C}\p{Z}\p{Default_Ignorable_Code_Point}${SHAPELESS}]`
const NAME: JsonSchema = {
  minLength: 1,
  maxLength: 100,
  pattern: String.raw`^(?!\p{M}|.*\p{M}{9})${SHOWN}+(?:[ \u3000]${SHOWN}+)*$`,
}
/** The rule also limits the bytes of UTF-8, which a schema cannot express. */
const PASSWORD: JsonSchema = { format: 'password', minLength: 8 }

/** Name of a profile or of an API token. */
export const resourceName = ruledString('name', NAME, nameProblem)

/** Longest date-time in characters. The microseconds may have further digits, which are cut off. */
const MAX_DATE_TIME = 64

/** A date-time with a time-zone offset, decoded to an instant in UTC with microseconds. */
export const dateTime: Field<string> = Object.assign(
  shaped(
    new t.Type<string, unknown>(
      'date-time',
      (u): u is string => typeof u === 'string' && toInstant(u) === u,
      (u, context) => {
        const utc = typeof u === 'string' && u.length <= MAX_DATE_TIME ? toInstant(u) : null
        return utc === null ? t.failure(u, context) : t.success(utc)
      },
      t.identity,
    ),
    { kind: 'schema', schema: { type: 'string', format: 'date-time', maxLength: MAX_DATE_TIME } },
  ),
  { explain: () => ({ type: 'datetime_parsing', msg: 'Input should be a valid date-time with a time-zone offset' }) },
)

const username = ruledString('username', NAME, nameProblem)
const password = ruledString('password', PASSWORD, passwordProblem)

/** More than there are, because a list may repeat a permission. */
const permissions = listOf(permission, 20)

export const newUserBody = members({
  username,
  password,
  permissions: optional(permissions, []),
  max_sessions: optional(boundedInteger(0, 1e6), DEFAULT_QUOTAS.maxSessions),
  max_translations: optional(boundedInteger(0, 1e6), DEFAULT_QUOTAS.maxTranslations),
})

/** Changes the members that are sent and no others. `null` is not a valid value. */
export const changeUserBody = members({
  password: omittable(password),
  permissions: omittable(permissions),
  max_sessions: omittable(boundedInteger(0, 1e6)),
  max_translations: omittable(boundedInteger(0, 1e6)),
  is_active: omittable(t.boolean),
})

/** Body of the routes that activate or deactivate a model, a language or a translation pair. */
export const activationBody = members({ is_active: t.boolean })

export const changePasswordBody = members({
  current_password: sentText,
  new_password: ruledString('new_password', PASSWORD, passwordProblem),
})

interface Setup {
  readonly token: string
  readonly username: string
  readonly password: string
}
export const setupBody: Field<Setup> = members({ token: boundedString(1, 512), username, password })
