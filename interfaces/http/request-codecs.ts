import * as t from 'io-ts'
import type { PageQuery } from '../../application/services.ts'
import { DEFAULT_QUOTAS } from '../../application/users/users.ts'
import { boundedInteger, boundedString } from '../../domain/shared/codecs.ts'
import { passwordProblem, usernameProblem } from '../../domain/user/credential-rules.ts'
import { permission } from '../../domain/user/events.ts'
import { checkedString, integerText, members, optional, repeated, single } from './validation.ts'
import type { Field } from './validation.ts'

const MAX_LIMIT = 1000
const MAX_SKIP = 2 ** 31 - 1

/** `skip` and `limit` (D6); a limit above 1000 counts as 1000. */
export const pagination = {
  skip: single(optional(integerText(0, MAX_SKIP), 0)),
  limit: single(optional(integerText(1, Infinity), 100)),
}

export const pageOf = (query: PageQuery): PageQuery => ({ skip: query.skip, limit: Math.min(query.limit, MAX_LIMIT) })

/** Query parameter that is compared as it is. */
const exact = single(optional(t.string, null))

export const pageQuery = members(pagination)
export const languagesQuery = members({ ...pagination, name: exact, iso_639_1: exact })
export const modelsQuery = members({ ...pagination, name: exact })
export const translationsQuery = members({ ...pagination, lang_from: exact, lang_to: exact })
export const livesQuery = members({
  ...pagination,
  status: repeated(t.keyof({ pending: null, active: null, finished: null, error: null })),
})

/** `chars_per_line` and `lines` take the bounds of max_chars and max_lines (D17). */
export const transcriptQuery = members({
  format: single(optional(t.keyof({ json: null, txt: null, srt: null, vtt: null }), 'json' as const)),
  language: exact,
  chars_per_line: single(optional(integerText(1, 1000), null)),
  lines: single(optional(integerText(1, 100), 2)),
})

/** Any integer is well formed; one that no resource can have is simply not found (R11). */
export const pathId = members({ id: integerText(-Infinity, Infinity) })

export const loginForm = members({ username: t.string, password: t.string })

export const audioUrlBody = members({ audio_url: t.string })

const credential = (name: string, problem: (value: string) => string | null): Field<string> =>
  checkedString(name, (value) => {
    const found = problem(value)
    return found === null ? null : `${name} ${found}`
  })

const username = credential('username', usernameProblem)
const password = credential('password', passwordProblem)

export const newUserBody = members({
  username,
  password,
  permissions: optional(t.readonlyArray(permission), []),
  max_sessions: optional(boundedInteger(0, 1e6), DEFAULT_QUOTAS.maxSessions),
  max_translations: optional(boundedInteger(0, 1e6), DEFAULT_QUOTAS.maxTranslations),
})

export const setupBody: Field<{ readonly token: string; readonly username: string; readonly password: string }> = members({
  token: boundedString(1, 512),
  username,
  password,
})
