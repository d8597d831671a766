import test from 'ava'
import fc from 'fast-check'
import * as E from 'fp-ts/lib/Either.js'
import { buffersAreOrdered, DEFAULT_ENGINE_SETTINGS, type EngineSettings } from '../../../../domain/live/settings.ts'
import type { GivenVocabulary } from '../../../../domain/live/vocabulary.ts'
import { profilesDecider, type Profile, type ProfilesCommand } from '../../../../domain/profiles/decider.ts'
import type { ProfileEvent } from '../../../../domain/profiles/events.ts'
import { fold, type Stamped } from '../../../../domain/shared/decider.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const at = after(9000)
const profile = (
  profileId: number,
  changes: Partial<Pick<Profile, 'name' | 'settings'>> & { readonly at?: string } = {},
) => ({
  profileId,
  userId: 3,
  name: 'Default',
  settings: DEFAULT_ENGINE_SETTINGS,
  at: after(profileId),
  ...changes,
})
const added = (profileId: number): ProfileEvent => ({ type: 'ProfileAdded', data: profile(profileId) })
const removed = (profileId: number): ProfileEvent => ({ type: 'ProfileRemoved', data: { profileId, userId: 3, at } })
const change = (profileId: number, settings: Partial<EngineSettings>, name?: string): Stamped<ProfilesCommand> => ({
  type: 'ChangeProfile', profileId, settings, at, ...(name === undefined ? {} : { name }),
})
const changed = (profileId: number, settings: EngineSettings, name = 'Default'): ProfileEvent => ({
  type: 'ProfileChanged', data: profile(profileId, { settings, name, at }),
})

test('a profile is added; names may repeat, ids may not', (t) => {
  const { given } = specify(t, profilesDecider)
  given().when({ type: 'AddProfile', ...profile(1) }).thenEvents(added(1))
  given(added(1)).when({ type: 'AddProfile', ...profile(2) }).thenEvents(added(2))
  given(added(1)).when({ type: 'AddProfile', ...profile(1) }).thenRefused({ _tag: 'ProfileExists' })
})

test('only the values that were sent change', (t) => {
  const { given } = specify(t, profilesDecider)
  given(added(1))
    .when(change(1, { max_chars: 40 }))
    .thenEvents(changed(1, { ...DEFAULT_ENGINE_SETTINGS, max_chars: 40 }))
  given(added(1)).when(change(1, {}, 'Lecture')).thenEvents(changed(1, DEFAULT_ENGINE_SETTINGS, 'Lecture'))
})

test('a change without a difference does nothing', (t) => {
  const { given } = specify(t, profilesDecider)
  given(added(1)).when(change(1, {})).thenNothing()
  given(added(1)).when(change(1, DEFAULT_ENGINE_SETTINGS, 'Default')).thenNothing()
})

test('a vocabulary change replaces only the prompt or hotwords that were sent; a repeat does nothing', (t) => {
  const { given } = specify(t, profilesDecider)
  const changeVocabulary = (vocabulary: GivenVocabulary): Stamped<ProfilesCommand> =>
    ({ type: 'ChangeProfile', profileId: 1, settings: {}, vocabulary, at })
  const vocabularyChanged = (vocabulary: GivenVocabulary): ProfileEvent =>
    ({ type: 'ProfileChanged', data: { ...profile(1, { at }), vocabulary } })
  given(added(1)).when(changeVocabulary({ prompt: 'x' })).thenEvents(vocabularyChanged({ prompt: 'x' }))
  given(added(1), vocabularyChanged({ prompt: 'x' }))
    .when(changeVocabulary({ hotwords: ['a'] }))
    .thenEvents(vocabularyChanged({ prompt: 'x', hotwords: ['a'] }))
  given(added(1), vocabularyChanged({ prompt: 'x', hotwords: ['a'] }))
    .when(changeVocabulary({ hotwords: ['a'] }))
    .thenNothing()
  given(added(1), vocabularyChanged({ hotwords: ['a'] }))
    .when(changeVocabulary({ hotwords: ['b'] }))
    .thenEvents(vocabularyChanged({ hotwords: ['b'] }))
  const named = { ...changed(1, DEFAULT_ENGINE_SETTINGS, 'Lecture').data, vocabulary: { prompt: 'x' } }
  given(added(1), vocabularyChanged({ prompt: 'x' }))
    .when(change(1, {}, 'Lecture'))
    .thenEvents({ type: 'ProfileChanged', data: named } as ProfileEvent)
})

const otherSettings: EngineSettings = {
  vad: false,
  mode: 'final',
  min_buffer: 2,
  max_buffer: 9,
  buffer_timeout: 2,
  max_delay: 6,
  max_chars: 70,
  max_lines: 3,
  punctuation: false,
  words: true,
  task: 'translate',
}
for (const member of Object.keys(otherSettings) as Array<keyof EngineSettings>)
  test(`a change of only ${member} is recorded`, (t) => {
    const settings = { [member]: otherSettings[member] }
    const expected = changed(1, { ...DEFAULT_ENGINE_SETTINGS, ...settings })
    specify(t, profilesDecider).given(added(1)).when(change(1, settings)).thenEvents(expected)
  })

test('min_buffer stays below or equal to max_buffer, even when only one of them is sent', (t) => {
  const { given } = specify(t, profilesDecider)
  const wide = { ...DEFAULT_ENGINE_SETTINGS, min_buffer: 12, max_buffer: 11 }
  given().when({ type: 'AddProfile', ...profile(1, { settings: wide }) }).thenRefused({ _tag: 'BuffersNotOrdered' })
  given(added(1)).when(change(1, { min_buffer: 11 })).thenRefused({ _tag: 'BuffersNotOrdered' })
  given(added(1)).when(change(1, { max_buffer: 0.5 })).thenRefused({ _tag: 'BuffersNotOrdered' })
  given(added(1))
    .when(change(1, { min_buffer: 10 }))
    .thenEvents(changed(1, { ...DEFAULT_ENGINE_SETTINGS, min_buffer: 10 }))
})

test('the last profile cannot be removed, any other can', (t) => {
  const { given } = specify(t, profilesDecider)
  given(added(1), added(2)).when({ type: 'RemoveProfile', profileId: 1, at }).thenEvents(removed(1))
  given(added(1)).when({ type: 'RemoveProfile', profileId: 1, at }).thenRefused({ _tag: 'LastProfile' })
  given(added(1), added(2), removed(2))
    .when({ type: 'RemoveProfile', profileId: 1, at })
    .thenRefused({ _tag: 'LastProfile' })
})

test('an unknown profile cannot be changed or removed', (t) => {
  const { given } = specify(t, profilesDecider)
  given(added(1), added(2), removed(2)).when(change(2, {})).thenRefused({ _tag: 'ProfileUnknown' })
  given(added(1)).when({ type: 'RemoveProfile', profileId: 2, at }).thenRefused({ _tag: 'ProfileUnknown' })
})

test('the state is the list of profiles, each with the time of its last change', (t) => {
  const { at: createdAt, ...first } = profile(1)
  const faster = { ...DEFAULT_ENGINE_SETTINGS, max_delay: 2 }
  t.deepEqual(fold(profilesDecider, [added(1), added(2), removed(2)]), [
    { ...first, vocabulary: {}, createdAt, updatedAt: null },
  ])
  t.deepEqual(fold(profilesDecider, [added(1), changed(1, faster, 'Fast')]), [
    { ...first, name: 'Fast', settings: faster, vocabulary: {}, createdAt, updatedAt: at },
  ])
})

test('a user with a profile always keeps one, and every stored profile has ordered buffers', (t) => {
  const profileId = fc.integer({ min: 1, max: 4 })
  const seconds = fc.constantFrom(0.5, 1, 5, 10, 20)
  const command = fc.oneof(
    fc
      .record({ profileId, min_buffer: seconds, max_buffer: seconds })
      .map(({ profileId, ...buffers }): Stamped<ProfilesCommand> => ({
        type: 'AddProfile',
        ...profile(profileId, { settings: { ...DEFAULT_ENGINE_SETTINGS, ...buffers } }),
      })),
    fc.record({ profileId, min_buffer: seconds }).map(({ profileId, ...settings }) => change(profileId, settings)),
    fc.record({ profileId, max_buffer: seconds }).map(({ profileId, ...settings }) => change(profileId, settings)),
    profileId.map((profileId): Stamped<ProfilesCommand> => ({ type: 'RemoveProfile', profileId, at })),
  )
  fc.assert(fc.property(fc.array(command, { maxLength: 40 }), (commands) => {
    let state = profilesDecider.initialState
    for (const next of commands) {
      const hadProfile = state.length > 0
      state = fold(
        profilesDecider,
        E.getOrElse((): ReadonlyArray<ProfileEvent> => [])(profilesDecider.decide(next, state)),
        state,
      )
      if (hadProfile && state.length === 0) return false
      if (!state.every((kept) => buffersAreOrdered(kept.settings))) return false
    }
    return true
  }), { numRuns: 1000 })
  t.pass()
})

test('a user has at most 100 profiles; a larger stored set can be changed and reduced', (t) => {
  const { given } = specify(t, profilesDecider)
  const many = (count: number) => Array.from({ length: count }, (_, index) => added(index + 1))
  const add = { type: 'AddProfile', ...profile(1000) } as const
  given(...many(99)).when(add).thenEvents(added(1000))
  given(...many(100)).when(add).thenRefused({ _tag: 'TooManyProfiles' })
  given(...many(100), removed(1)).when(add).thenEvents(added(1000))
  given(...many(150)).when(add).thenRefused({ _tag: 'TooManyProfiles' })
  given(...many(150)).when(change(120, {}, 'Lecture')).thenEvents(changed(120, DEFAULT_ENGINE_SETTINGS, 'Lecture'))
  given(...many(150)).when({ type: 'RemoveProfile', profileId: 120, at }).thenEvents(removed(120))
})
