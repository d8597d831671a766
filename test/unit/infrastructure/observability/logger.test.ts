import { stripVTControlCharacters } from 'node:util'
import test from 'ava'
import { createLogger } from '../../../../infrastructure/observability/logger.ts'
import { watchLoop } from '../../../../infrastructure/observability/loop-watch.ts'
import { readableLog } from '../../../../infrastructure/observability/readable-log.ts'
import { createRecordingLogger } from '../../../support/doubles/loggers.ts'

test('the log consists of JSON lines without secrets', (t) => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => lines.push(line) })
  const secret = 'hunter2'
  log.info(
    {
      token: secret,
      live: { id: 7, token_sender: secret },
      request: { headers: { authorization: secret } },
      password: secret,
    },
    'hello',
  )
  log.error({ err: new Error('broken') }, 'oops')
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  t.false(lines.join('').includes(secret))
  t.like(first, { msg: 'hello', live: { id: 7 } })
  t.like(second, { msg: 'oops', err: { message: 'broken' } })
})

test('an error is logged with type, message, code and stack, without attached data', (t) => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => lines.push(line) })
  const error = Object.assign(new TypeError('broken'), {
    code: 'HPE_X',
    rawPacket: Buffer.from('hunter2'),
    body: 'hunter2',
  })
  log.error({ err: error }, 'oops')
  const { err } = JSON.parse(lines[0] ?? '') as { readonly err: Readonly<Record<string, unknown>> }
  t.like(err, { type: 'TypeError', message: 'broken', code: 'HPE_X' })
  t.deepEqual(Object.keys(err).toSorted(), ['code', 'message', 'stack', 'type'])
})

test('messages below the log level are not logged', (t) => {
  const lines: string[] = []
  const log = createLogger('warn', { write: (line) => lines.push(line) })
  log.info({}, 'quiet')
  log.warn({}, 'loud')
  t.is(lines.length, 1)
})

test('an event loop that stalls for over a second is logged with its cause', (t) => {
  const logger = createRecordingLogger()
  const tasks: Array<() => void> = []
  let [now, cpu, waiting] = [0, 0, true]
  const timers = {
    after: (_: number, task: () => void) => {
      tasks.push(task)
      return () => {
        waiting = false
      }
    },
  }
  const stop = watchLoop({ timers, monotonic: () => now, cpu: () => cpu, logger })
  for (const [passed, spent] of [[500, 10], [1500, 1200], [2501, 2400], [7500, 3]] as const) {
    now += passed
    cpu += spent
    tasks.pop()?.()
  }
  const standstill = { level: 'warn', message: 'the event loop was blocked' } as const
  t.deepEqual(logger.lines, [
    { ...standstill, fields: { ms: 2001, cpuMs: 2400, cause: 'own work' } },
    { ...standstill, fields: { ms: 7000, cpuMs: 3, cause: 'not scheduled' } },
  ])
  stop()
  t.false(waiting)
})

test('on a terminal the log is readable lines, and foreign text cannot move the cursor', (t) => {
  const lines: string[] = []
  const log = createLogger('info', readableLog({ write: (line) => lines.push(stripVTControlCharacters(line)) }, false))
  log.info({ engine: 'speech', why: 'no device', live: { id: 7 }, token: 'hunter2' }, 'engine process started')
  log.error({ err: new TypeError('a\u001b[2J\nb\u202ec') }, 'oops')
  t.regex(
    lines[0] ?? '',
    new RegExp(
      '^\\d\\d:\\d\\d:\\d\\d info {2}engine process started {2}engine=speech {2}' +
        'why="no device" {2}live=\\{"id":7\\} {2}token=\\[secret\\]\\n$',
    ),
  )
  t.regex(lines[1] ?? '', /^\d\d:\d\d:\d\d error oops {2}\(a\?\[2J\?b\?c\)\n(?:.*\n)+? {4}at /)
  t.notRegex(lines.join('').replaceAll('\n', ''), /[\p{Cc}\p{Cf}]/u)
})

test('on a terminal only failed and slow requests are logged, unless every request is wanted', (t) => {
  const shown = (everything: boolean): string => {
    const lines: string[] = []
    const log = createLogger('info', readableLog({ write: (line) => lines.push(line) }, everything))
    for (const [id, status, ms] of [['a', 200, 12], ['b', 401, 12], ['c', 503, 12], ['d', 200, 2000], ['e', 304, 1999]])
      log.info({ id, status, ms }, 'request')
    log.info({ id: 'f', code: 1000, ms: 3 }, 'socket closed')
    return lines.map((line) => / id=(.)/.exec(line)?.[1]).join('')
  }
  t.is(shown(false), 'cdf')
  t.is(shown(true), 'abcdef')
})
