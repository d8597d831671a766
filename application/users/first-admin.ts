import type { NewUser } from './commands/register-user.ts'
import { DEFAULT_QUOTAS } from './commands/register-user.ts'

/** Who may do everything. */
export const firstAdmin = (username: string, password: string): NewUser => ({
  username,
  password,
  permissions: ['admin', 'user_retention'],
  ...DEFAULT_QUOTAS,
})
