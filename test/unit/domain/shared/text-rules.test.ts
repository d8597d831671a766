import test from 'ava'
import { codePointsOf, hasCodePoints } from '../../../../domain/shared/code-points.ts'
import { nameProblem } from '../../../../domain/shared/names.ts'
import { passwordProblem } from '../../../../domain/user/credential-rules.ts'

test('text is counted by code points', (t) => {
  for (const [text, count] of [['', 0], ['ab', 2], ['é', 1], ['密码', 2], ['😀a😀', 3], ['\ud83da', 2]] as const) {
    t.is(codePointsOf(text), count, text)
    t.true(hasCodePoints(text, count, count), text)
    t.false(hasCodePoints(text, count + 1, 100), text)
    t.false(hasCodePoints(text, 0, count - 1), text)
  }
})

test('a name has 1 to 100 characters, of any size in bytes', (t) => {
  for (const name of ['a', 'ä'.repeat(100), '🎙'.repeat(100)]) t.is(nameProblem(name), null, name)
  t.is(nameProblem(''), 'should have at least 1 character')
  for (const name of ['a'.repeat(101), '🎙'.repeat(101)])
    t.is(nameProblem(name), 'should have at most 100 characters', name)
})

test('a name shows everything that it contains', (t) => {
  const valid = [
    'Ada Lovelace', 'O’Neill <a@b>', 'Zoë', 'Zoe\u0308', 'Nguyễn Thị Ánh', 'Nguyễn Thị Ánh'.normalize('NFD'),
    '山田 太郎', '山田\u3000太郎',
    'यूनिकोड हिन्दी', 'क्‍ष', 'क़्‍ष', 'ශ්‍රී', 'محمّد', 'یوسف می‌خواهم', 'ที่นี่ น้ำ',
    'שָׁלוֹם', 'בְּרֵאשִׁ֖ית', '김하나'.normalize('NFD'),
    '❤️', '❤', '👩🏽‍🏫 Lecture', '❤️‍🔥', '👨‍👩‍👧‍👦', '🏳️‍🌈',
    '🇩🇪', '🏴󠁧󠁢󠁳󠁣󠁴󠁿', '1️⃣', '#️⃣', '©️', `x${'\u0301'.repeat(8)}`,
  ]
  for (const name of valid) t.is(nameProblem(name), null, name)
  const hidden = [
    '\0', 'a\nb', 'a\tb', 'a\u0085b', 'a\u00adb', 'a\u034fb', 'a\u061cb', '\u115f', '\u3164', 'a\u180eb', 'a\u200bb',
    'a\u200cb', 'a\u200db', 'یوسف\u200c', 'ca\ufe01t',
    '\u200da', '密\u200d码', 'a\ufe0f', '❤\ufe0f\ufe0f', '👩\u200d\u200d🏫', 'a\u200e',
    'a\u2028b', '\u202eabc', 'a\u2060b', '\u2066a\u2069', '\u2800', 'a\ufeff', '\uffa0', 'a\ufff9b',
    'a\u{e0041}', '\ud83c', 'a\udf99',
    // characters that have no shape, or none yet, or another one on each machine
    '\u{1d159}', 'a\u{13441}', 'a\u{13442}', 'a\ufffc', 'a\u{16fe4}', 'a\u2d7f', 'a\u{1107f}', 'a\u{1da9b}', 'a\u0378',
    'a\ue000', 'a\u{f0000}', 'a\u{10fffd}', 'a\uffff', 'a\ufdd0', 'a\u{1ffff}',
    // selectors, joiners and tags that change nothing
    '😀\ufe0f', '1\ufe0f', '👍\ufe0f🏽', '😀\u200d😀', '🏴\u{e0061}\u{e007f}', '🏴\u{e0067}',
    'a\u094d\u200dक', 'क\u09cd\u200dक', 'क\u094d\u200db', 'क\u094d\u094d\u200dक', 'कa\u094d\u200dक',
  ]
  for (const name of hidden)
    t.is(nameProblem(name), 'should not contain control or invisible characters', JSON.stringify(name))
})

test('the spaces and marks of a name are as they look', (t) => {
  for (const name of [' ', '  x', 'x ', '\u00a0x', 'x\u3000'])
    t.is(nameProblem(name), 'should not begin or end with a space', JSON.stringify(name))
  for (const name of ['Ada  L.', 'a\u00a0b', 'a\u2009b', 'a\u202fb', 'a\u1680b', 'a \u3000b'])
    t.is(nameProblem(name), 'should have single spaces between its words', JSON.stringify(name))
  for (const name of ['\u0301x', '\u093fक', '\u20dd', `x${'\u0301'.repeat(9)}`, `x${'\u0301\u0323'.repeat(20)}`])
    t.is(nameProblem(name), 'should not begin with a mark, or have more than 8 marks in a row', JSON.stringify(name))
})

test('a password has at least 8 characters and at most 1024 bytes', (t) => {
  for (const password of ['12345678', '密码密码密码密码', '😀'.repeat(8), ' '.repeat(8), 'é'.repeat(512), '😀'.repeat(256)])
    t.is(passwordProblem(password), null, password)
  for (const password of ['', '1234567', '密码一', '😀'.repeat(7)])
    t.is(passwordProblem(password), 'should have at least 8 characters', password)
  for (const password of ['a'.repeat(1025), '密'.repeat(342), '😀'.repeat(257)])
    t.is(passwordProblem(password), 'should have at most 1024 bytes', password)
  t.is(passwordProblem('\ud83c1234567'), 'should contain only valid Unicode characters')
})
