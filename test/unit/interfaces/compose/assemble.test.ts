import test from 'ava'
import { assemble } from '../../../../interfaces/compose/assemble.ts'

/** Parts that record the order in which they stop. */
const createParts = () => {
  const stopped: Array<string> = []
  const part = (name: string, fault?: Error) => ({
    name,
    stop: async () => {
      stopped.push(name)
      if (fault !== undefined) throw fault
    },
  })
  return { stopped, part }
}

test('parts stop once, in reverse order, even when another part fails to stop', async (t) => {
  const { stopped, part } = createParts()
  const whole = await assemble(async (opened) => {
    const inner = opened(await assemble(async (nested) => ({ first: nested(part('a')), second: nested(part('b')) })))
    opened(part('c', new Error('stuck')))
    opened(part('d'))
    return { inner }
  })
  t.is(whole.inner.first.name, 'a')
  t.deepEqual(stopped, [])
  await t.throwsAsync(whole.stop(), { message: 'stuck' })
  t.deepEqual(stopped, ['d', 'c', 'b', 'a'])
  await whole.stop()
  t.is(stopped.length, 4)
})

test('a failed assembly stops the parts that it had opened and names the reason', async (t) => {
  const { stopped, part } = createParts()
  const outcome = assemble(async (opened) => {
    opened(await assemble(async (nested) => ({ inner: nested(part('a')) })))
    opened(part('b'))
    return await assemble(async (nested) => {
      nested(part('c'))
      throw new Error('no room')
    })
  })
  await t.throwsAsync(outcome, { message: 'no room' })
  t.deepEqual(stopped, ['c', 'b', 'a'])
})
