import type { Mutant } from './mutant.ts'

const MEMBERS = 'test/contract/mongodb/members.test.ts'
const MEMBER_LEASES = 'test/contract/mongodb/member-leases.test.ts'
const CONTRACT_MEMBERS = 'test/contract/members.test.ts'
const CONTRACT_LEASES = 'test/contract/leases.test.ts'
const CONTRACT_KEYS = 'test/contract/mongodb-keyring.test.ts'
const ERASED_KEYS = 'test/unit/infrastructure/erased-keys.test.ts'

/** Processes that share stores: members, leases and keys erased by other processes. */
export const memberMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: 'entry.directory === own.directory || isLost',
    after: 'isLost',
    rows: ['one that was killed is replaced at once from its data directory'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: 'hasBeaten ? { act: \'refuse\', why } :',
    after: '',
    rows: ['a name belongs to who beats'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: 'if (unanswered < MAX_UNANSWERED) return undefined',
    after: 'return undefined',
    rows: ['a start that MongoDB does not answer ends'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: '(isGone || entry.state === \'stopping\')) return',
    after: 'isGone) return',
    rows: ['a member that left, or says that it stops'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: '  if (other.ttl !== own.ttl)',
    after: '  if (other.ttl < own.ttl)',
    rows: ['another LEASE_TTL is refused'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/enter-members.ts',
    before: '  if (other.isSole)',
    after: '  if (other.isSole && other.name === own.name)',
    rows: ['a process of a version that shares with nobody'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lost-members.ts',
    before: 'isLost: silent >= maxSilent,',
    after: 'isLost: silent >= looks - 1,',
    rows: ['one that was killed is replaced at once from its data directory'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lost-members.ts',
    before: 'silent = isSame && !isBeat ?',
    after: 'silent = before !== undefined && !isBeat ?',
    rows: ['a name that changes hands is judged anew'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lost-members.ts',
    before: '(isCounted ? 1 : 0)',
    after: '1',
    rows: ['in an election, on a deposed primary'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lost-members.ts',
    before: 'Math.max(1, entry.ttl / ttl)',
    after: '1',
    rows: ['another LEASE_TTL is refused'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'E.isRight(entries) && isFresh',
    after: 'E.isRight(seen)',
    rows: ['in an election, on a deposed primary'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'if (E.isRight(exists) && !exists.right) return reportReplaced(await whyReplaced())',
    after: '',
    rows: ['one that was frozen while another took its place is told so'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'return exists.right ? null : await whyReplaced()',
    after: 'return null',
    rows: ['one that was frozen while another took its place is told so'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before:
      '      // If this fails, the next process of this name replaces the entry, or waits until it counts as lost.\n' +
      '      await register.leave(own)\n',
    after: '',
    rows: ['a member that left, or says that it stops'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '      if (isForgotten) await register.remove(entry)\n      else if',
    after: '      if',
    rows: ['a killed member is lost after ten looks'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '      lost.forEach(listener)\n',
    after: '',
    rows: ['a killed member is lost after ten looks'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '        await register.leave(entry)\n',
    after: '',
    rows: ['such a process that came in at the same moment'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' nextBeat.wake()',
    after: '  nextBeat',
    rows: ['members of different names run side by side'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' && entry.incarnation === incarnation && !isLost',
    after: ' && !isLost',
    rows: ['a frozen holder that wakes'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' && !isLost && entry.state',
    after: ' && entry.state',
    rows: ['a lease of a killed member'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: '          await dropSoleIndex(members)\n',
    after: '',
    rows: ['the index of a version that shares with nobody'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: 'deleteOne({ ...sameProcess(seen), beat: seen.beat })',
    after: 'deleteOne(itself(seen))',
    rows: ['who has beaten since it was seen'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: 'replaceOne({ ...sameProcess(seen), beat: seen.beat }',
    after: 'replaceOne(itself(seen)',
    rows: ['who has beaten since it was seen'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: '({ _id: name, incarnation })',
    after: '({ _id: name })',
    rows: ['a name is one process'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: ', $set: announced }',
    after: ' }',
    rows: ['a beat tells what the member says'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lease-register.ts',
    before: 'updateOne({ _id, token: seen.token }',
    after: 'updateOne({ _id }',
    rows: ['a lease is taken as it was seen'], test: CONTRACT_LEASES,
  },
  {
    file: 'infrastructure/mongodb/lease-register.ts',
    before: 'updateOne({ _id, incarnation, token }',
    after: 'updateOne({ _id, incarnation }',
    rows: ['a lease is taken as it was seen'], test: CONTRACT_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: 'if (isLost(seeker.held.token, lease, verdicts)) seeker.held.losing.abort()',
    after: '',
    rows: ['a frozen holder that wakes'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: '    await register.release(name, self, token)\n    seeker.isPausing',
    after: '    seeker.isPausing',
    rows: ['work that ends by itself leaves its lease'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: 'if (lease !== undefined && isOwn(lease)) seeker',
    after: 'if (lease?.holder === \'\') seeker',
    rows: ['a lease that was taken by a request whose answer was lost'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/keys/follow-erasures.ts',
    before: 'keyring.forget(names.right)',
    after: 'keyring.forget([])',
    rows: ['a key erased by another process leaves the memory within a second'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/keys/follow-erasures.ts',
    before: 'const MAX_SILENCE_MS = 30_000',
    after: 'const MAX_SILENCE_MS = 3000',
    rows: ['after thirty seconds without an answer only keys of running sessions stay in memory'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/keys/follow-erasures.ts',
    before: 'const QUERY_INTERVAL_MS = 1000',
    after: 'const QUERY_INTERVAL_MS = 3000',
    rows: ['a key erased by another process leaves the memory within a second'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/keys/follow-erasures.ts',
    before: '        keyring.keepOnly(needed())\n',
    after: '',
    rows: ['after thirty seconds without an answer only keys of running sessions stay in memory'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: '    erasures += 1\n    for (const name of names) cache.drop(name)',
    after: '    for (const name of names) cache.drop(name)',
    rows: ['a value that was read before the erasure is not cached after it'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$currentDate: { erasedAt: true }',
    after: '$set: { erasedAt: new Date() }',
    rows: ['a key that one process erased is out'], test: CONTRACT_KEYS,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$unset: { wrapped: true, asked: true }, $currentDate: { erasedAt: true }',
    after: '$unset: { wrapped: true }, $min: { erasedAt: new Date() }',
    rows: ['an erasure is dated by the server'], test: CONTRACT_KEYS,
  },
]
