import test from 'ava'
import { createTurns } from '../../../application/turns.ts'

test('tasks of one key run one after another, also after a failure, independent of other keys', async (t) => {
  const inTurn = createTurns()
  const order: Array<string> = []
  const gate = Promise.withResolvers<void>()
  const task =
    (name: string, until: Promise<void> = Promise.resolve()) =>
    async (): Promise<string> => {
      order.push(`${name} begins`)
      await until
      order.push(`${name} ends`)
      return name
    }
  const first = inTurn('a', task('first', gate.promise))
  const second = inTurn('a', () => Promise.reject(new Error('second fails')))
  const third = inTurn('a', task('third'))
  t.is(await inTurn('b', task('other')), 'other')
  t.deepEqual(order, ['first begins', 'other begins', 'other ends'])
  gate.resolve()
  t.is(await first, 'first')
  await t.throwsAsync(second, { message: 'second fails' })
  t.is(await third, 'third')
  t.deepEqual(order.slice(3), ['first ends', 'third begins', 'third ends'])
  t.is(await inTurn('a', task('late')), 'late')
})
