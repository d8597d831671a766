import test from 'ava'
import { fuzzWebParsers } from '../../../../support/sources/fuzz.ts'

test('no playlist, list of stations, cookie or title breaks its parser, however it arrives', async (t) => {
  await t.notThrowsAsync(fuzzWebParsers(200))
})
