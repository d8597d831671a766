import { DatabaseSync } from 'node:sqlite'
import test from 'ava'
import { createLogClock } from '../../../infrastructure/sqlite/log-clock.ts'

const HOUR = 3_600_000

/** The clock of a log whose newest event has this time. Later, `setClock` sets the clock of the machine. */
const logClock = (newest: number | null) => {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE events(pos INTEGER PRIMARY KEY, at INTEGER)')
  if (newest !== null) database.prepare('INSERT INTO events(at) VALUES (?)').run(newest)
  return createLogClock(database)
}

const isNear = (time: number, expected: number): boolean => time >= expected && time < expected + HOUR / 2

test.serial('the clock of a log starts with the clock of the machine, and does not follow it when it is set', (t) => {
  const { now } = Date
  const real = now()
  t.teardown(() => { Date.now = now })
  for (const newest of [null, real - HOUR]) {
    const time = logClock(newest)
    for (const ms of [0, HOUR, -HOUR, 8766 * HOUR]) {
      Date.now = () => now() + ms
      t.true(isNear(time(), real))
    }
    Date.now = now
  }
})

test.serial('the clock of a log goes on from an event that lies ahead of the machine', (t) => {
  const newest = Date.now() + HOUR
  t.true(isNear(logClock(newest)(), newest))
})
