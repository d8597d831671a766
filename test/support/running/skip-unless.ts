import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test, { type ExecutionContext, type SkipFn } from 'ava'
import { isSkippedHere } from './skipped-on-servers.ts'

const exist = (paths: ReadonlyArray<string>): boolean => paths.every((path) => existsSync(path))

/** Returns `test` when all paths exist, otherwise `test.skip`, so the report lists the test as skipped. */
export const testWith = (...paths: ReadonlyArray<string>): SkipFn => (exist(paths) ? test : test.skip)

/** Like `testWith`, for tests that run one after another. */
export const serialTestWith = (...paths: ReadonlyArray<string>): SkipFn =>
  exist(paths) ? test.serial : test.serial.skip

/** Returns the path of a program for `testWith`, or its name when it is not installed. */
export const programPath = (program: string): string => {
  const paths = (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program))
  return paths.find((path) => existsSync(path)) ?? program
}

type Body = (t: ExecutionContext) => Promise<void> | void

const isListed = (title: string): boolean => isSkippedHere(fileURLToPath(test.meta.file), title)

/** `test` for suites that run on several kinds of stores. Skips the tests in skipped-on-servers.ts. */
export const testOnChosenStores = (title: string, body: Body): void =>
  (isListed(title) ? test.skip : test)(title, body)

/** Like `testOnChosenStores`, for tests that run one after another. */
export const serialTestOnChosenStores = (title: string, body: Body): void =>
  (isListed(title) ? test.serial.skip : test.serial)(title, body)

/** The path of a model that is not part of the repository: in STENOLOG_MODELS_DIR, or in `../shared/models`. */
export const sharedModel = (name: string): string =>
  `${process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models'}/${name}`
