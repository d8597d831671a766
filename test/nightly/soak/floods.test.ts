import { readFileSync } from 'node:fs'
import { connect } from 'node:net'
import test from 'ava'
import { runTestService } from '../../support/service/service.ts'

/**
 * Measured results on two vCPUs under other load (load average 10 to 20):
 * 100 logins: all answered in 3.6 s, memory +68 MB, other requests 46 ms (median) and 338 ms (p99).
 * 1000 logins: 238 answered and 762 refused in 14.9 s, memory +115 MB, other requests 76 ms and 1023 ms.
 */
const service = await runTestService()
test.after.always(() => service.dispose())
const anonymous = service.anonymous()

const residentMegabytes = (): number =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${service.pid()}/status`, 'utf8'))?.[1]) / 1024

/** Returns the CPU time of the service so far, in hundredths of a second. Other processes do not affect it. */
const processorTicks = (): number => {
  const fields = readFileSync(`/proc/${service.pid()}/stat`, 'utf8').split(') ')[1]?.split(' ') ?? []
  return Number(fields[11]) + Number(fields[12])
}

const sorted = (values: ReadonlyArray<number>): ReadonlyArray<number> => values.toSorted((a, b) => a - b)
const quantile = (values: ReadonlyArray<number>, q: number): number =>
  sorted(values)[Math.min(values.length - 1, Math.floor(values.length * q))] ?? Number.NaN

const timeOf = async (run: () => Promise<unknown>): Promise<number> => {
  const began = performance.now()
  await run()
  return performance.now() - began
}

test.serial('a flood of 1000 logins gets 401 or 429, and other requests are served meanwhile', async (t) => {
  t.timeout(600_000)
  const member = await service.user('calm')
  for (const count of [100, 1000]) {
    const before = residentMegabytes()
    let highest = before
    const flood = new AbortController()
    const others: Array<number> = []
    const watching = (async () => {
      while (!flood.signal.aborted) {
        others.push(await timeOf(async () => t.is((await member.get('/users/me')).status, 200)))
        highest = Math.max(highest, residentMegabytes())
      }
    })()
    const began = performance.now()
    const answers = await Promise.all(
      Array.from({ length: count }, (_, n) =>
        anonymous.form('/login', { username: `guess ${n}`, password: 'a guess' }),
      ),
    )
    const seconds = (performance.now() - began) / 1000
    flood.abort()
    await watching
    const statuses = new Map<number, number>()
    for (const { status } of answers) statuses.set(status, (statuses.get(status) ?? 0) + 1)
    t.deepEqual([...statuses.keys()].filter((status) => status !== 401 && status !== 429), [])
    t.true((statuses.get(401) ?? 0) >= 100, 'the service checks at least 100 passwords')
    for (const { status, headers } of answers)
      if (status === 429) t.regex(headers.get('retry-after') ?? '', /^[1-9]\d*$/)
    // The other requests were sent one after another, so each waited for a part of the flood.
    t.true(others.length >= 4, `${others.length} other requests were answered meanwhile`)
    // Four password hashes at once need 19 MiB each. The rest is the memory of a thousand requests.
    t.true(highest - before < 300, `${highest - before} MB`)
    t.log(
      `${count} logins in ${seconds.toFixed(1)} s: ${JSON.stringify([...statuses])}; ` +
        `meanwhile ${others.length} requests, median ${quantile(others, 0.5).toFixed(0)} ms, ` +
        `p99 ${quantile(others, 0.99).toFixed(0)} ms, longest ${quantile(others, 1).toFixed(0)} ms; ` +
        `RSS ${before.toFixed(0)} to ${highest.toFixed(0)} MB`,
    )
  }
})

test.serial('wrong logins of an unknown and of a known user get equal answers and cost equal work', async (t) => {
  t.timeout(600_000)
  await service.user('known')
  const work = { known: 0, unknown: 0 }
  for (let n = 0; n < 20; n += 1)
    for (const username of n % 2 === 0 ? (['known', 'unknown'] as const) : (['unknown', 'known'] as const)) {
      const before = processorTicks()
      for (let login = 0; login < 10; login += 1) {
        const { status, body, headers } = await anonymous.form('/login', { username, password: 'a guess' })
        t.deepEqual(
          [status, body, headers.get('www-authenticate')],
          [401, { detail: 'Incorrect username or password' }, 'Bearer'],
        )
      }
      work[username] += processorTicks() - before
    }
  t.true(work.known >= 100, `${work.known} ticks`)
  const ratio = work.unknown / work.known
  t.true(ratio > 0.5 && ratio < 2, `unknown names take ${ratio.toFixed(2)} times the processor time of known ones`)
})

/** Sends `head`, then one byte of `rest` per second. Returns the answer when the server closes the connection. */
const sendSlowly = (head: string, rest: string): Promise<string> =>
  new Promise((resolve) => {
    const socket = connect(Number(new URL(service.url()).port), '127.0.0.1')
    let [answer, sent] = ['', 0]
    socket.setEncoding('utf8').on('data', (text: string) => (answer += text))
    socket.on('error', () => undefined)
    socket.write(head)
    const timer = setInterval(() => socket.write(rest.charAt(sent++ % rest.length)), 1000)
    socket.once('close', () => {
      clearInterval(timer)
      resolve(answer)
    })
  })

test.serial('requests that arrive one byte per second are cut off, and others are served meanwhile', async (t) => {
  t.timeout(600_000)
  const slow = [
    sendSlowly('GET /version HTTP/1.1\r\nHost: localhost\r\nX-Slow: ', 'a'),
    sendSlowly(
      'POST /login HTTP/1.1\r\nHost: localhost\r\n' +
        'Content-Type: application/x-www-form-urlencoded\r\nContent-Length: 5000\r\n\r\n',
      'a',
    ),
  ]
  t.is((await anonymous.get('/version')).status, 200)
  const [head = '', body = ''] = await Promise.all(slow)
  t.regex(head, /^HTTP\/1\.1 408 /)
  t.regex(body, /^$|^HTTP\/1\.1 4\d\d /)
  t.is((await anonymous.get('/version')).status, 200)
})
