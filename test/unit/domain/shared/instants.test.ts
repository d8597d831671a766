import test from 'ava'
import { toInstant } from '../../../../domain/shared/instants.ts'

const valid: Readonly<Record<string, string>> = {
  '2027-01-31T10:00:00Z': '2027-01-31T10:00:00.000000+00:00',
  '2027-01-31t10:00:00z': '2027-01-31T10:00:00.000000+00:00',
  '2027-01-31 10:00:00+00:00': '2027-01-31T10:00:00.000000+00:00',
  '2027-01-01T01:30:00.5+02:00': '2026-12-31T23:30:00.500000+00:00',
  '2026-12-31T23:59:59.123456789-00:30': '2027-01-01T00:29:59.123456+00:00',
  '2028-02-29T00:00:00-23:59': '2028-02-29T23:59:00.000000+00:00',
  '9999-12-31T23:59:59Z': '9999-12-31T23:59:59.000000+00:00',
}
const invalid = [
  '',
  'tomorrow',
  '2027-01-31',
  '2027-01-31T10:00:00',
  '2027-01-31T10:00Z',
  '2027-02-29T10:00:00Z',
  '2027-02-30T10:00:00Z',
  '2027-13-01T10:00:00Z',
  '2027-01-31T24:00:00Z',
  '2027-01-31T10:60:00Z',
  '2027-01-31T10:00:60Z',
  '2027-01-31T10:00:00+24:00',
  '2027-01-31T10:00:00+01:60',
  '2027-01-31T10:00:00.Z',
  '9999-12-31T23:59:59-00:01',
  '0000-01-01T00:00:00+00:01',
  '1799999999',
  ' 2027-01-31T10:00:00Z',
  '2027-01-31T10:00:00Z\n',
  '+02027-01-31T10:00:00Z',
]

test('a date-time with an offset becomes UTC with microseconds', (t) => {
  for (const [text, instant] of Object.entries(valid)) {
    t.is(toInstant(text), instant)
    t.is(toInstant(instant), instant)
  }
})

test('an invalid date-time and a date-time without an offset are null', (t) => {
  for (const text of invalid) t.is(toInstant(text), null, text)
})
