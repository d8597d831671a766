import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Members, Self } from '../../application/ports/members.ts'
import { NOTHING_ANNOUNCED } from '../../infrastructure/embedded-members.ts'
import type { Entry, MemberRegister } from '../../infrastructure/mongodb/member-register.ts'

interface Opened<A> {
  readonly opened: A
  readonly close: () => Promise<void>
}

const PENDING = Symbol('pending')

const withOpened = async <A>({ opened, close }: Opened<A>, use: (opened: A) => Promise<void>): Promise<void> => {
  try {
    await use(opened)
  } finally {
    await close()
  }
}

/** Tests every adapter of Members. `open` joins a new cluster that has no other process. */
export const membersContract = (
  name: string,
  open: (self: Self) => Promise<Opened<Members>>,
  run: SerialFn | typeof test = test,
): void => {
  run(`${name}: a process keeps its identity and stays a member until it leaves`, async (t) => {
    const self = { name: 'alpha', incarnation: '5b7a3f5e-7a3c-4f0e-8d59-0d7c2f3b6a11' }
    await withOpened(await open(self), async (members) => {
      t.like(members.self, self)
      t.is(await members.ownershipProblem(), null)
      t.is(await Promise.race([members.replaced, Promise.resolve(PENDING)]), PENDING)
      t.like(members.all(), [self])
      let changes = 0
      const stop = members.onChange(() => (changes += 1))
      members.announce({ lives: [7], state: 'draining' })
      t.like(members.all(), [{ ...self, lives: [7], state: 'draining', logAnswers: true }])
      t.is(changes, 1)
      stop()
      members.announce({ lives: [] })
      t.is(changes, 1)
      await members.leave()
      t.is(await Promise.race([members.replaced, Promise.resolve(PENDING)]), PENDING)
    })
  })
}

export const entry = (name: string, incarnation: string): Entry => ({
  name,
  incarnation,
  directory: `directory of ${name}`,
  host: 'here',
  pid: 7,
  since: '2026-11-23T09:00:00.000000+00:00',
  ttl: 5000,
  beat: 0,
  ...NOTHING_ANNOUNCED,
  roles: ['worker'],
  version: '1.0.0',
  speaks: { log: 4, relay: 1 },
  isSole: false,
})

/** Tests every member register: one process per name, and each step is atomic. */
export const registerContract = (
  name: string,
  open: () => Promise<Opened<MemberRegister>>,
  run: SerialFn | typeof test = test,
): void => {
  const [alpha, beta, newAlpha] = [entry('alpha', '1'), entry('beta', '2'), entry('alpha', '3')]
  const on = (title: string, body: (t: ExecutionContext, register: MemberRegister) => Promise<void>): void => {
    run(`${name}: ${title}`, async (t) => withOpened(await open(), (register) => body(t, register)))
  }

  on('a name belongs to one process until it leaves or is removed', async (t, register) => {
    t.deepEqual(await register.read(), E.right([]))
    t.deepEqual(await register.enter(alpha), E.right(true))
    t.deepEqual(await register.read(), E.right([alpha]))
    for (const other of [newAlpha, alpha]) t.deepEqual(await register.enter(other), E.right(false))
    for (const other of [beta, newAlpha]) {
      t.deepEqual(await register.beat(other), E.right(false))
      t.deepEqual(await register.remove(other), E.right(false))
      await register.leave(other)
    }
    t.deepEqual(await register.enter(beta), E.right(true))
    t.deepEqual(await register.read(), E.right([alpha, beta]))
    await register.leave(alpha)
    t.deepEqual(await register.beat(alpha), E.right(false))
    t.deepEqual(await register.remove(beta), E.right(true))
    t.deepEqual(await register.enter(newAlpha), E.right(true))
    t.deepEqual(await register.read(), E.right([newAlpha]))
  })

  on('a member that has sent a newer heartbeat is neither removed nor replaced', async (t, register) => {
    await register.enter(alpha)
    for (let beat = 1; beat <= 3; beat += 1) {
      t.deepEqual(await register.beat(alpha), E.right(true))
      t.deepEqual(await register.read(), E.right([{ ...alpha, beat }]))
    }
    t.deepEqual(await register.remove({ ...alpha, beat: 2 }), E.right(false))
    t.deepEqual(await register.replace({ ...alpha, beat: 2 }, newAlpha), E.right(false))
    t.deepEqual(await register.replace({ ...alpha, beat: 3 }, newAlpha), E.right(true))
    t.deepEqual(await register.replace({ ...alpha, beat: 3 }, newAlpha), E.right(false))
    t.deepEqual(await register.beat(alpha), E.right(false))
    t.deepEqual(await register.read(), E.right([newAlpha]))
    t.deepEqual(await register.remove(newAlpha), E.right(true))
  })

  on('a heartbeat carries the profile of the member', async (t, register) => {
    await register.enter(alpha)
    const offers = {
      models: [], translations: [{ from: 'de', to: 'en' }], devices: [{ name: 'cpu', lanes: 2 }],
    } as unknown as Entry['offers']
    const jobs = { doing: [{ jobId: 5, done: 3, total: null, detail: 'a file', at: alpha.since }], cancelling: [6] }
    const profile = {
      ...alpha,
      state: 'draining' as const,
      address: 'here:1',
      offers,
      logAnswers: false,
      lives: [3, 4],
      jobs,
    }
    t.deepEqual(await register.beat(profile), E.right(true))
    t.deepEqual(await register.read(), E.right([{ ...profile, beat: 1 }]))
  })

  on('exactly one of many concurrent processes with one name joins', async (t, register) => {
    const entered = await Promise.all(Array.from({ length: 10 }, (_, n) => register.enter(entry('alpha', String(n)))))
    t.is(entered.filter((outcome) => E.isRight(outcome) && outcome.right).length, 1)
  })
}
