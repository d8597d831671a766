import { toInstant } from '../../../domain/shared/instants.ts'
import {
  type Command, EXAMPLE_TIME, ID, JSON_FLAG, QUOTA, SESSION, WHOLE_NUMBER, WHOLE_NUMBER_FROM_1,
} from './command.ts'

const DATA_DIRECTORY = 'Works on the data directory STENOLOG_DATA_DIR. The service may run or be stopped.'

const LIMITS = ['max-sessions', 'max-translations', 'permission'] as const

export const USERS = {
  name: 'users',
  purpose: 'list, create, change, export and delete users',
  about: [
    DATA_DIRECTORY,
    'A new password ends all logins of the user. A deactivated user cannot use the service, and their open sessions '
      + 'end. Their data stays. The last active administrator cannot be demoted, deactivated or deleted.',
    'delete cannot be undone. It destroys the encryption keys of the user and of their sessions, so nobody can read '
      + 'their personal data. An earlier backup still contains the keys: delete such backups after a while.',
    'export prints all stored data of a user as JSON, without secrets.',
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
  arguments: { NAME: { meaning: 'a user name' } },
  options: {
    'max-sessions': { value: 'N', meaning: 'maximum number of open sessions', rule: QUOTA },
    'max-translations': {
      value: 'N', meaning: 'maximum number of target languages of each session', rule: QUOTA,
    },
    permission: {
      value: 'PERMISSION', isRepeatable: true,
      meaning: 'user_retention (may keep text) or admin (may administer the service); may be repeated. The given '
        + 'permissions replace all permissions that the user had',
      rule: {
        test: (text: string) => ['user_retention', 'admin'].includes(text), expected: 'user_retention or admin',
      },
    },
    'no-permissions': { meaning: 'removes all permissions' },
    'password-file': {
      value: 'FILE', meaning: 'reads the password from FILE; default: asks for it, or reads it from standard input',
    },
    json: JSON_FLAG,
  },
  examples: ['users create ada --permission user_retention', 'users set-password root'],
  page: 'docs/operate/production.md',
} as const satisfies Command

export const LIVES = {
  name: 'lives',
  purpose: 'list and finish the sessions of all users',
  about: [
    `${DATA_DIRECTORY} list shows the newest sessions first, without tokens and texts. `
      + 'The event log records each use of list and finish.',
    'The column lag shows how many seconds the text of a running session is behind its audio.',
  ],
  forms: [
    { words: 'list', options: ['status', 'user', 'skip', 'limit', 'json'] },
    { words: 'finish SESSION', options: ['json'] },
  ],
  arguments: SESSION,
  options: {
    status: {
      value: 'STATUS', isRepeatable: true, oneOf: ['pending', 'active', 'finished', 'error'],
      meaning: 'lists only sessions with this status; may be repeated',
    },
    user: { value: 'NAME', meaning: 'lists only sessions of this user' },
    skip: { value: 'N', fallback: '0', meaning: 'number of sessions to skip', rule: WHOLE_NUMBER },
    limit: { value: 'N', fallback: '100', meaning: 'maximum number of sessions to list', rule: WHOLE_NUMBER_FROM_1 },
    json: JSON_FLAG,
  },
  examples: ['lives list --status active --user ada', 'lives finish 7'],
  page: 'docs/operate/monitor.md',
} as const satisfies Command

export const TOKENS = {
  name: 'tokens',
  purpose: 'list, create, rename, activate and revoke API tokens of users',
  about: [
    `${DATA_DIRECTORY} Programs send a token as X-API-Key or as bearer token.`,
    'create shows the secret of the token only once; the service does not store it. A revoked token cannot be '
      + 'restored. A deactivated token can be activated again. Both revoke and deactivate take effect with the next '
      + 'request.',
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
    USER: { meaning: 'a user name' },
    NAME: { meaning: 'a name for the token' },
    ID: { meaning: 'the id of a token', rule: ID },
  },
  options: {
    expires: {
      value: 'TIME', meaning: `the time at which the token expires, such as ${EXAMPLE_TIME}; default: never`,
      rule: { test: (text: string) => toInstant(text) !== null, expected: `a time such as ${EXAMPLE_TIME}` },
    },
    quiet: { meaning: 'prints only the secret' },
    json: { meaning: 'prints JSON; after create, the member "token" contains the secret' },
  },
  examples: [`tokens create ada ci --expires ${EXAMPLE_TIME}`, 'tokens revoke 3'],
  page: 'docs/guides/api-tokens.md',
} as const satisfies Command
