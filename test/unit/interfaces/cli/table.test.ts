import test from 'ava'
import { tableOf } from '../../../../interfaces/cli/table.ts'

test('columns are as wide as their widest cell', (t) => {
  t.is(tableOf(['id', 'name'], [[1, 'a'], [1000, 'bc']]), 'id    name\n1     a\n1000  bc')
})

test('foreign text cannot move the cursor or start a line', (t) => {
  t.is(tableOf(['name'], [['a\u001b[2Jb\nc\u202e']]), 'name\na?[2Jb?c?')
})
