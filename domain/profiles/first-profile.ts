import * as E from 'fp-ts/lib/Either.js'
import type { Decider } from '../shared/decider.ts'
import type { EventOf } from '../shared/event.ts'
import { profilesDecider, type ProfilesState } from './decider.ts'
import type { ProfileAdded, ProfileEvent } from './events.ts'

export const FIRST_PROFILE_NAME = 'Default'

/** Adds a profile to a user without profiles. For other users it changes nothing, so it can be repeated at any time. */
export const firstProfileDecider: Decider<ProfilesState, EventOf<typeof ProfileAdded>['data'], ProfileEvent, never> = {
  initialState: profilesDecider.initialState,
  evolve: profilesDecider.evolve,
  snapshots: profilesDecider.snapshots,
  decide: (data, profiles) => E.right(profiles.length === 0 ? [{ type: 'ProfileAdded', data }] : []),
}
