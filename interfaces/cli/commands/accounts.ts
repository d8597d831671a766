import { ID, JSON_SWITCH, WHOLE_NUMBER } from './command.ts'
import type { Command } from './command.ts'

const BESIDE = 'Works on the data directory of STENOLOG_DATA_DIR, beside a running service or without one.'

const LIMITS = ['max-sessions', 'max-translations', 'permission'] as const

export const USERS = {
  name: 'users',
  purpose: 'list, create, change, export and delete users',
  about: [
    BESIDE,
    'A new password ends all logins of the user. deactivate ends the open sessions too, and deletes nothing. The last active '
      + 'administrator cannot be demoted, deactivated or deleted.',
    'delete is for good: it destroys the keys of the user and of their sessions, so that nothing personal can be read again, in no '
      + 'backup either. export prints all that is kept of a user as JSON, without secrets.',
  ],
  forms: [
    { words: 'list', options: ['json'] },
    { words: 'create NAME', options: [...LIMITS, 'password-file', 'json'] },
    { words: 'change NAME', options: [...LIMITS, 'no-permissions', 'json'] },
    { words: 'set-password NAME', options: ['password-file', 'json'] },
    { words: 'activate NAME', options: ['json'] },
    { words: 'deactivate NAME', options: ['json'] },
    { words: 'delete NAME', options: [] },
    { words: 'export NAME', options: ['json'] },
  ],
  arguments: { NAME: { meaning: 'the name of a user' } },
  options: {
    'max-sessions': { value: 'N', meaning: 'sessions at once', fits: WHOLE_NUMBER },
    'max-translations': { value: 'N', meaning: 'target languages at once', fits: WHOLE_NUMBER },
    permission: { value: 'P', several: true, meaning: 'user_retention or admin; may be repeated' },
    'no-permissions': { meaning: 'takes all permissions away' },
    'password-file': { value: 'FILE', meaning: 'file with the password; without it the password is asked for, or read from standard input' },
    json: JSON_SWITCH,
  },
  examples: ['users create ada --permission user_retention', 'users set-password root'],
  page: 'docs/operate/production.md',
} as const satisfies Command

export const LIVES = {
  name: 'lives',
  purpose: 'list and finish the sessions of all users',
  about: [
    `${BESIDE} Sessions are listed newest first, without tokens and texts. Every look and every end is on record.`,
    'The column lag holds the seconds by which the text of a running session is behind its audio.',
  ],
  forms: [
    { words: 'list', options: ['status', 'user', 'skip', 'limit', 'json'] },
    { words: 'finish ID', options: ['json'] },
  ],
  arguments: { ID: { meaning: 'the id of a session', fits: ID } },
  options: {
    status: {
      value: 'STATUS', several: true, oneOf: ['pending', 'active', 'finished', 'error'], meaning: 'only sessions in this state; may be repeated',
    },
    user: { value: 'NAME', meaning: 'only sessions of this user' },
    skip: { value: 'N', fallback: '0', meaning: 'sessions to leave out first', fits: WHOLE_NUMBER },
    limit: { value: 'N', fallback: '100', meaning: 'sessions to list', fits: WHOLE_NUMBER },
    json: JSON_SWITCH,
  },
  examples: ['lives list --status active --user ada', 'lives finish 7'],
  page: 'docs/operate/monitor.md',
} as const satisfies Command

export const TOKENS = {
  name: 'tokens',
  purpose: 'list, create, rename, switch and revoke API tokens of users',
  about: [
    `${BESIDE} Programs send a token as X-API-Key or as bearer token.`,
    'create shows the secret of the token this once: it is kept nowhere. revoke is for good, deactivate is not; both count from the next '
      + 'request on.',
  ],
  forms: [
    { words: 'list USER', options: ['json'] },
    { words: 'create USER NAME', options: ['expires', 'quiet', 'json'] },
    { words: 'rename ID NAME', options: ['json'] },
    { words: 'activate ID', options: ['json'] },
    { words: 'deactivate ID', options: ['json'] },
    { words: 'revoke ID', options: [] },
  ],
  arguments: {
    USER: { meaning: 'the name of a user' },
    NAME: { meaning: 'a name for the token' },
    ID: { meaning: 'the id of a token', fits: ID },
  },
  options: {
    expires: { value: 'INSTANT', meaning: 'when the token ends, as 2027-01-31T00:00:00Z; without it never' },
    quiet: { meaning: 'prints the secret alone' },
    json: { meaning: 'prints JSON; of create with the secret as "token"' },
  },
  examples: ['tokens create ada ci --expires 2027-01-31T00:00:00Z', 'tokens revoke 3'],
  page: 'docs/guides/api-tokens.md',
} as const satisfies Command
