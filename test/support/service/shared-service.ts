import test from 'ava'
import { runTestService } from './service.ts'
import type { TestService } from './service.ts'

let isAsked = false
let running: Awaited<ReturnType<typeof runTestService>> | undefined

const shared = (): TestService => {
  if (running === undefined) throw new Error('the shared service is there for tests and hooks alone')
  return running
}

/**
 * The one service of all files of a process that ask for it, for tests that leave it running, look only at what they made
 * themselves, and take names of users that no other file takes: a start costs more than the tests of most files.
 */
export const sharedTestService = (): Omit<TestService, 'kill' | 'start'> => {
  if (!isAsked) {
    test.serial.before('the shared service starts', async () => {
      running = await runTestService()
    })
    test.after.always('the shared service ends', () => running?.dispose())
  }
  isAsked = true
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
  }
}
