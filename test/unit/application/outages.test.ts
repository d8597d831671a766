import test from 'ava'
import { createOutage } from '../../../application/outages.ts'
import { createTestEnvironment } from '../../support/doubles/environment.ts'
import { createRecordingLogger } from '../../support/doubles/loggers.ts'

const MINUTE = 60_000

const watchedOutage = () => {
  const logger = createRecordingLogger()
  const environment = createTestEnvironment()
  const outage = createOutage({ logger, environment }, 'store fails', 'store works again')
  const lines = () => logger.lines.map(({ fields, message }) => ({ ...fields, message }))
  return { logger, environment, outage, lines }
}

test('an outage is logged once for each cause, and once at its end', (t) => {
  const { outage, environment, lines, logger } = watchedOutage()
  outage.ended()
  for (let failures = 0; failures < 500; failures += 1) {
    outage.failed(failures % 2 === 0 ? 'refused' : 'timed out', { attempt: failures })
    environment.advance(100)
  }
  outage.ended({ node: 'one' })
  outage.ended()
  t.deepEqual(lines(), [
    { attempt: 0, reason: 'refused', message: 'store fails' },
    { attempt: 1, reason: 'timed out', failures: 2, seconds: 0, message: 'store fails' },
    { node: 'one', failures: 500, seconds: 50, message: 'store works again' },
  ])
  t.deepEqual(logger.lines.map(({ level }) => level), ['warn', 'warn', 'info'])
})

test('a lasting outage is repeated at growing intervals', (t) => {
  const { outage, environment, lines } = watchedOutage()
  for (let minute = 0; minute <= 300; minute += 1) {
    outage.failed('refused')
    environment.advance(MINUTE)
  }
  t.deepEqual(
    lines().map((line) => 'seconds' in line ? Number(line.seconds) / 60 : 0),
    [0, 1, 3, 7, 15, 31, 63, 123, 183, 243],
  )
})

test('a store that fails and works in turn is not logged at every failure', (t) => {
  const { outage, environment, lines } = watchedOutage()
  const flapFor = (ms: number): number => {
    const before = lines().length
    for (let passed = 0; passed < ms; passed += 100) {
      outage.failed('refused')
      outage.ended()
      environment.advance(100)
    }
    return lines().length - before
  }
  t.is(flapFor(MINUTE), 2)
  environment.advance(60 * MINUTE)
  t.is(flapFor(100), 2, 'a later outage is logged again')
})

test('a cause with another time limit is the same cause', (t) => {
  const { outage, lines } = watchedOutage()
  for (const limit of ['800 ms', '200 ms', '3 s']) outage.failed(`no answer in ${limit}`)
  t.deepEqual(lines(), [{ reason: 'no answer in 800 ms', message: 'store fails' }])
})

test('causes that always differ do not flood the log', (t) => {
  const { outage, lines } = watchedOutage()
  for (let failures = 0; failures < 500; failures += 1) outage.failed(`connection ${failures} was refused`)
  t.is(lines().length, 21)
})
