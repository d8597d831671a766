import * as t from 'io-ts'
import type { ApiTokenView } from '../../../application/ports/read-models.ts'
import type { ApiTokenChange } from '../../../application/tokens/commands/change-token.ts'
import { instant } from '../../../domain/shared/codecs.ts'
import { count, nullable } from './presenters.ts'
import { dateTime, resourceName } from './request-codecs.ts'
import { members, omittable, optional } from './validation.ts'

export const newTokenBody = members({ name: resourceName, expires_at: optional(dateTime, null) })

export const tokenChangeBody = members({ name: omittable(resourceName), is_active: omittable(t.boolean) })

export const tokenChange = ({ name, is_active: isActive }: t.TypeOf<typeof tokenChangeBody>): ApiTokenChange => ({
  ...(name === undefined ? {} : { name }),
  ...(isActive === undefined ? {} : { isActive }),
})

const recordMembers = {
  id: count,
  name: t.string,
  token_prefix: t.string,
  is_active: t.boolean,
  expires_at: nullable(instant),
  last_used_at: nullable(instant),
  created_at: instant,
}
export const tokenView = t.strict(recordMembers, 'ApiToken')
/** A token with its owner, for administrators. */
export const ownedTokenView = t.strict({ ...recordMembers, user_id: count, username: t.string }, 'OwnedApiToken')
/** The only response that contains the secret. */
export const issuedTokenView = t.strict({ ...recordMembers, token: t.string }, 'IssuedApiToken')

export const presentToken = (token: ApiTokenView): t.TypeOf<typeof tokenView> => ({
  id: token.id,
  name: token.name,
  token_prefix: token.prefix,
  is_active: token.isActive,
  expires_at: token.expiresAt,
  last_used_at: token.lastUsedAt,
  created_at: token.createdAt,
})
