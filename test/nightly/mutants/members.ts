import type { Mutant } from './mutant.ts'

const MEMBERS = 'test/contract/mongodb/members.test.ts'
const OLDER_VERSIONS = 'test/contract/mongodb/older-versions.test.ts'
const MEMBER_LEASES = 'test/contract/mongodb/member-leases.test.ts'
const CONTRACT_MEMBERS = 'test/contract/members.test.ts'
const CONTRACT_LEASES = 'test/contract/leases.test.ts'
const CONTRACT_KEYS = 'test/contract/mongodb-keyring.test.ts'
const ERASED_KEYS = 'test/unit/infrastructure/erased-keys.test.ts'

/** Processes that share stores: members, leases and keys erased by other processes. */
export const memberMutants: ReadonlyArray<Mutant> = [
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: 'entry.directory === own.directory || isLost',
    after: 'isLost',
    rows: ['a process on the same data directory replaces a killed member at once, any other after ten checks'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: 'hasBeaten ? { act: \'refuse\', why } :',
    after: '',
    rows: ['a name belongs to its live member: a second start is refused and names the first'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: 'if (unanswered < MAX_UNANSWERED) return undefined',
    after: 'return undefined',
    rows: ['a start without an answer from MongoDB ends with the reason'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: '(isGone || entry.state === \'stopping\')) return',
    after: 'isGone) return',
    rows: ['a start does not wait for a member that left or is stopping'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: '  if (other.ttl !== own.ttl)',
    after: '  if (other.ttl < own.ttl)',
    rows: ['a different LEASE_TTL is refused while a member sends heartbeats, and waits for a silent member'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/enter-members.ts',
    before: '  if (other.isSole)',
    after: '  if (other.isSole && other.name === own.name)',
    rows: ['a start waits for a silent older version and is refused while it sends heartbeats'], test: OLDER_VERSIONS,
  },
  {
    file: 'infrastructure/mongodb/membership/lost-members.ts',
    before: 'isLost: silent >= maxSilent,',
    after: 'isLost: silent >= maxSilent - 1,',
    rows: ['a process on the same data directory replaces a killed member at once, any other after ten checks'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/lost-members.ts',
    before: 'silent = isSame && !isBeat ?',
    after: 'silent = before !== undefined && !isBeat ?',
    rows: ['a waiting start begins its checks again when another process takes the name'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/lost-members.ts',
    before: '(isCounted ? 1 : 0)',
    after: '1',
    rows: ['no member is lost during an election, on a deposed primary or while the observer is frozen'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/membership/lost-members.ts',
    before: 'Math.max(1, entry.ttl / ttl)',
    after: '1',
    rows: ['a different LEASE_TTL is refused while a member sends heartbeats, and waits for a silent member'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'E.isRight(entries) && isFresh',
    after: 'E.isRight(entries)',
    rows: ['no member is lost during an election, on a deposed primary or while the observer is frozen'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'if (E.isRight(exists) && !exists.right) return reportReplaced(await whyReplaced())',
    after: '',
    rows: ['a frozen member learns on waking that another process replaced it'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: 'return exists.right ? null : await whyReplaced()',
    after: 'return null',
    rows: ['a frozen member learns on waking that another process replaced it'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before:
      '      // If this fails, the next process of this name replaces the entry, or waits until it counts as lost.\n' +
      '      await register.leave(own)\n',
    after: '',
    rows: ['a start does not wait for a member that left or is stopping'], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '      if (isForgotten) await register.remove(entry)\n      else if',
    after: '      if',
    rows: ['every member reports a killed member as lost once, after ten checks, also to later subscribers'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '      lost.forEach(listener)\n',
    after: '',
    rows: ['every member reports a killed member as lost once, after ten checks, also to later subscribers'],
    test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: '        await register.leave(entry)\n',
    after: '',
    rows: ['members remove an older, single-process version that joined concurrently'], test: OLDER_VERSIONS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' nextBeat.wake()',
    after: '  nextBeat',
    rows: ["members with different names run side by side and see each other's announcements"], test: MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' && entry.incarnation === incarnation && !isLost',
    after: ' && !isLost',
    rows: ['a frozen holder learns of its loss on waking, and a restarted holder holds nothing'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/members.ts',
    before: ' && !isLost && entry.state',
    after: ' && entry.state',
    rows: ['another member takes the lease of a killed one after its TTL, and not during an election'],
    test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: '          await dropSoleIndex(members)\n',
    after: '',
    rows: ['an older, single-process version is kept out, and its index does not stop several members'],
    test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: 'deleteOne({ ...sameProcess(seen), beat: seen.beat })',
    after: 'deleteOne(sameProcess(seen))',
    rows: ['a member that has sent a newer heartbeat is neither removed nor replaced'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: 'replaceOne({ ...sameProcess(seen), beat: seen.beat }',
    after: 'replaceOne(sameProcess(seen)',
    rows: ['a member that has sent a newer heartbeat is neither removed nor replaced'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: '({ _id: name, incarnation })',
    after: '({ _id: name })',
    rows: ['a name belongs to one process until it leaves or is removed'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/member-register.ts',
    before: ', $set: announced }',
    after: ' }',
    rows: ['a heartbeat carries the profile of the member'], test: CONTRACT_MEMBERS,
  },
  {
    file: 'infrastructure/mongodb/lease-register.ts',
    before: 'updateOne({ _id, token: seen.token }',
    after: 'updateOne({ _id }',
    rows: ['a lease is taken only in the state that was read, and only its holder releases it'], test: CONTRACT_LEASES,
  },
  {
    file: 'infrastructure/mongodb/lease-register.ts',
    before: 'updateOne({ _id, incarnation, token }',
    after: 'updateOne({ _id, incarnation }',
    rows: ['a lease is taken only in the state that was read, and only its holder releases it'], test: CONTRACT_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: 'if (isLost(seeker.held.token, lease, verdicts)) seeker.held.losing.abort()',
    after: '',
    rows: ['a frozen holder learns of its loss on waking, and a restarted holder holds nothing'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: '    await register.release(name, self, token)\n    seeker.isPausing',
    after: '    seeker.isPausing',
    rows: ['work that ends on its own leaves its lease to a waiting member'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/mongodb/leases.ts',
    before: 'if (lease !== undefined && isOwn(lease)) seeker',
    after: 'if (lease?.holder === \'\') seeker',
    rows: ['a lease is held under its token even if the answer to its acquisition was lost'], test: MEMBER_LEASES,
  },
  {
    file: 'infrastructure/keys/follow-erasures.ts',
    before: 'memory.forget(names.right)',
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
    before: '        for (const memory of memories) memory.keepOnly(kept)\n',
    after: '',
    rows: ['after thirty seconds without an answer only keys of running sessions stay in memory'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/keys/keyring.ts',
    before: '    erasures += 1\n    for (const name of names) cache.delete(name)',
    after: '    for (const name of names) cache.delete(name)',
    rows: ['a value that was read before the erasure is not cached after it'], test: ERASED_KEYS,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$currentDate: { erasedAt: true }',
    after: '$set: { erasedAt: new Date() }',
    rows: ['an erased key leaves the memory of every process, whatever their clocks say'], test: CONTRACT_KEYS,
  },
  {
    file: 'infrastructure/mongodb/keyring.ts',
    before: '$unset: { wrapped: true, asked: true }, $currentDate: { erasedAt: true }',
    after: '$unset: { wrapped: true }, $min: { erasedAt: new Date() }',
    rows: ['a repeated erasure gets the time of the server, and is reported for a minute'], test: CONTRACT_KEYS,
  },
]
