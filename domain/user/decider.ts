import * as E from 'fp-ts/lib/Either.js'
import type { Either } from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import type { UserEvent, UserRegistered } from './events.ts'

type UserRegisteredData = EventOf<typeof UserRegistered>['data']

/** A user as registered and changed since. */
export interface User extends Omit<UserRegisteredData, 'at'> {
  readonly status: 'active' | 'disabled'
  /** Begins at 0; a JWT of an earlier generation is refused. */
  readonly generation: number
  readonly createdAt: string
  /** When anything last changed; null until then. */
  readonly updatedAt: string | null
}

export type UserState = { readonly status: 'none' } | User

export type UserCommand =
  | { readonly type: 'Register'; readonly data: UserRegisteredData }
  | { readonly type: 'ChangePassword'; readonly passwordHash: string; readonly at: string }
  | { readonly type: 'Disable'; readonly at: string }
  | { readonly type: 'Enable'; readonly at: string }

export type UserRefusal = { readonly _tag: 'AlreadyRegistered' } | { readonly _tag: 'UserUnknown' }

type Decision = Either<UserRefusal, ReadonlyArray<UserEvent>>

const decideRegistered = (command: Exclude<UserCommand, { readonly type: 'Register' }>, user: User): Decision => {
  const about = { userId: user.userId, at: command.at }
  switch (command.type) {
    case 'ChangePassword': {
      const { passwordHash } = command
      return E.right([{ type: 'PasswordChanged', data: { ...about, passwordHash, generation: user.generation + 1 } }])
    }
    case 'Disable':
      return E.right(user.status === 'disabled' ? [] : [{ type: 'UserDisabled', data: about }])
    case 'Enable':
      return E.right(user.status === 'active' ? [] : [{ type: 'UserEnabled', data: about }])
  }
}

const decide = (command: UserCommand, state: UserState): Decision => {
  if (command.type === 'Register') {
    if (state.status !== 'none') return E.left({ _tag: 'AlreadyRegistered' })
    return E.right([{ type: 'UserRegistered', data: command.data }])
  }
  return state.status === 'none' ? E.left({ _tag: 'UserUnknown' }) : decideRegistered(command, state)
}

const register = ({ at, ...data }: UserRegisteredData): User => ({
  ...data,
  status: 'active',
  generation: 0,
  createdAt: at,
  updatedAt: null,
})

/** Events that the rules never make (a change before the registration, a second registration) change nothing. */
const evolve = (state: UserState, event: UserEvent): UserState => {
  if (state.status === 'none') return event.type === 'UserRegistered' ? register(event.data) : state
  const updatedAt = event.data.at
  switch (event.type) {
    case 'UserRegistered':
      return state
    case 'PasswordChanged':
      return { ...state, passwordHash: event.data.passwordHash, generation: event.data.generation, updatedAt }
    case 'UserDisabled':
      return { ...state, status: 'disabled', updatedAt }
    case 'UserEnabled':
      return { ...state, status: 'active', updatedAt }
  }
}

/** One user: registered once, then password changes (each ends the earlier JWTs), disabled and enabled. */
export const userDecider: Decider<UserState, UserCommand, UserEvent, UserRefusal> = { initialState: { status: 'none' }, evolve, decide }
