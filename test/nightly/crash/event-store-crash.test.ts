import { spawn, type ChildProcess } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { setTimeout } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import * as E from 'fp-ts/lib/Either.js'
import { BEGINNING } from '../../../application/ports/event-store.ts'
import { openSqliteEventStore } from '../../../infrastructure/sqlite/event-log/event-store.ts'
import { verifyChain } from '../../../infrastructure/sqlite/event-log/verify-chain.ts'
import { caughtUp, newEvent, right, take } from '../../contract/event-store-support.ts'
import { chanceOf } from '../../support/tools/seeded.ts'
import { temporaryDirectory } from '../../support/tools/temporary-directory.ts'

const ROUNDS = 6

const appender = (directory: string, round: number): ChildProcess =>
  spawn(
    process.execPath,
    [fileURLToPath(new URL('../../contract/sqlite/event-appender.ts', import.meta.url)), directory, String(round)],
    { stdio: ['ignore', 'pipe', 'inherit'] },
  )

/** Kills an appending process some milliseconds after its first append. Returns the acknowledged ids. */
const killWhileAppending = async (
  directory: string,
  round: number,
  aliveMs: number,
): Promise<ReadonlyArray<string>> => {
  const child = appender(directory, round)
  if (child.stdout === null) throw new Error('the appender has no output')
  const journal: string[] = []
  for await (const line of createInterface({ input: child.stdout })) {
    if (journal.length === 0) void setTimeout(aliveMs).then(() => child.kill('SIGKILL'))
    journal.push(...line.split(' '))
  }
  return journal
}

test('kill -9 during appends loses no acknowledged event, and the log accepts new events', async (t) => {
  const { path, remove } = await temporaryDirectory()
  t.teardown(remove)
  const random = chanceOf(t).random('kills')
  const file = join(path, 'log.db')
  const acknowledged = new Set<string>()
  for (let round = 0; round < ROUNDS; round += 1) {
    for (const id of await killWhileAppending(path, round, random() * 300)) acknowledged.add(id)
    const store = await openSqliteEventStore({ file })
    t.teardown(store.close)
    const messages = await take(store.subscribe(BEGINNING, ['live-'], new AbortController().signal), caughtUp)
    const stored = messages.flatMap((message) => (message.kind === 'event' ? [message.event] : []))
    const ids = new Set(stored.map(({ id }) => id))
    t.deepEqual([...acknowledged].filter((id) => !ids.has(id)), [])
    t.is(ids.size, stored.length, 'no event is stored twice')
    for (const stream of new Set(stored.map(({ stream }) => stream))) {
      const events = stored.filter((event) => event.stream === stream)
      // The appender writes two events in each append.
      t.true(
        events.every(({ revision }, index) => revision === index) && events.length % 2 === 0,
        'no gap and no torn append',
      )
    }
    t.true(E.isRight(await verifyChain(file)))
    await right(store.append('after', 'any', [newEvent()]))
    await store.close()
  }
  t.log(`${acknowledged.size} acknowledged events over ${ROUNDS} kills`)
})
