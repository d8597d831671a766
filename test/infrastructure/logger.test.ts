import test from 'ava'
import { createLogger } from '../../infrastructure/logger.ts'

test('D59: the log is JSON lines without secrets', (t) => {
  const lines: string[] = []
  const log = createLogger('info', { write: (line) => lines.push(line) })
  const secret = 'hunter2'
  log.info({ token: secret, live: { id: 7, token_sender: secret }, request: { headers: { authorization: secret } }, password: secret }, 'hello')
  log.error({ err: new Error('broken') }, 'oops')
  const [first, second] = lines.map((line) => JSON.parse(line) as Record<string, unknown>)
  t.false(lines.join('').includes(secret))
  t.like(first, { msg: 'hello', live: { id: 7 } })
  t.like(second, { msg: 'oops', err: { message: 'broken' } })
})

test('the log says nothing below its level', (t) => {
  const lines: string[] = []
  const log = createLogger('warn', { write: (line) => lines.push(line) })
  log.info({}, 'quiet')
  log.warn({}, 'loud')
  t.is(lines.length, 1)
})
