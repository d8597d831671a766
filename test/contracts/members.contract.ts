import test, { type ExecutionContext, type SerialFn } from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import type { Members, Self } from '../../application/ports/members.ts'
import type { Member, MemberRegister } from '../../infrastructure/mongodb/member-register.ts'

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

/** What every adapter of the port does; `open` gives the members of stores that nobody else uses. */
export const membersContract = (name: string, open: (self: Self) => Promise<Opened<Members>>, run: SerialFn | typeof test = test): void => {
  run(`${name}: a process is who it was said to be, and keeps its place until it leaves`, async (t) => {
    const self = { name: 'alpha', incarnation: '5b7a3f5e-7a3c-4f0e-8d59-0d7c2f3b6a11' }
    await withOpened(await open(self), async (members) => {
      t.like(members.self, self)
      t.is(await members.whyNot(), null)
      t.is(await Promise.race([members.replaced, Promise.resolve(PENDING)]), PENDING)
      await members.leave()
      t.is(await Promise.race([members.replaced, Promise.resolve(PENDING)]), PENDING)
    })
  })
}

const member = (name: string, incarnation: string): Member => ({
  name, incarnation, directory: `directory of ${name}`, host: 'here', pid: 7, since: '2026-11-23T09:00:00.000000+00:00', ttl: 5000, beat: 0,
})

/** What every register of members does: one place, and each step as a whole. */
export const registerContract = (name: string, open: () => Promise<Opened<MemberRegister>>, run: SerialFn | typeof test = test): void => {
  const [alpha, beta, again] = [member('alpha', '1'), member('beta', '2'), member('alpha', '3')]
  const on = (title: string, body: (t: ExecutionContext, register: MemberRegister) => Promise<void>): void => {
    run(`${name}: ${title}`, async (t) => withOpened(await open(), (register) => body(t, register)))
  }

  on('one member has the place, which another takes once it has left or was struck', async (t, register) => {
    t.deepEqual(await register.look(), E.right([]))
    t.deepEqual(await register.enter(alpha), E.right(true))
    t.deepEqual(await register.look(), E.right([alpha]))
    for (const other of [beta, again, alpha]) t.deepEqual(await register.enter(other), E.right(false))
    for (const other of [beta, again]) {
      t.deepEqual(await register.beat(other), E.right(false))
      t.deepEqual(await register.strike(other), E.right(false))
      await register.leave(other)
    }
    t.deepEqual(await register.look(), E.right([alpha]))
    await register.leave(alpha)
    t.deepEqual(await register.beat(alpha), E.right(false))
    t.deepEqual(await register.enter(beta), E.right(true))
    t.deepEqual(await register.strike(beta), E.right(true))
    t.deepEqual(await register.enter(again), E.right(true))
  })

  on('who has beaten since it was seen is not struck', async (t, register) => {
    await register.enter(alpha)
    for (let beat = 1; beat <= 3; beat += 1) {
      t.deepEqual(await register.beat(alpha), E.right(true))
      t.deepEqual(await register.look(), E.right([{ ...alpha, beat }]))
    }
    t.deepEqual(await register.strike({ ...alpha, beat: 2 }), E.right(false))
    t.deepEqual(await register.strike({ ...alpha, beat: 3 }), E.right(true))
  })

  on('of many that come at once one is let in', async (t, register) => {
    const entered = await Promise.all(Array.from({ length: 10 }, (_, n) => register.enter(member(`member-${n}`, String(n)))))
    t.is(entered.filter((outcome) => E.isRight(outcome) && outcome.right).length, 1)
  })
}
