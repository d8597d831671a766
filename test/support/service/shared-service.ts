import test from 'ava'
import { runTestService, type TestService } from './service.ts'

let isRequested = false
let running: Awaited<ReturnType<typeof runTestService>> | undefined

const shared = (): TestService => {
  if (running === undefined) throw new Error('use the shared service inside tests and hooks only')
  return running
}

/**
 * Returns one service for all test files of a process, whose tests are all serial and may restart it. Use it because a
 * start costs more time than most tests. The tests must look only at their own data, and need user names of their own.
 */
export const restartedTestService = (): TestService => {
  if (!isRequested) {
    test.serial.before('the shared service starts', async () => {
      running = await runTestService()
    })
    test.after.always('the shared service ends', () => running?.dispose())
  }
  isRequested = true
  return {
    url: () => shared().url(),
    pid: () => shared().pid(),
    log: () => shared().log(),
    get dataDirectory() {
      return shared().dataDirectory
    },
    get stores() {
      return shared().stores
    },
    anonymous: () => shared().anonymous(),
    admin: () => shared().admin(),
    logIn: (username) => shared().logIn(username),
    user: (username, members) => shared().user(username, members),
    kill: (signal) => shared().kill(signal),
    start: () => shared().start(),
  }
}

/** Like `restartedTestService`, for tests that run at the same time. They must not stop the service. */
export const sharedTestService: () => Omit<TestService, 'kill' | 'start'> = restartedTestService
