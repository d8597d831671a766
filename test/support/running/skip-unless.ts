import { existsSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import test from 'ava'
import type { ExecutionContext, SkipFn } from 'ava'
import { isSkippedHere } from './skipped-on-servers.ts'

/** `test`, or `test.skip` where a path that the test needs is absent: the report then names it as skipped. */
export const testWith = (...paths: ReadonlyArray<string>): SkipFn => (paths.every((path) => existsSync(path)) ? test : test.skip)

/** Where a program lies, or its name where it is not installed, for `testWith`. */
export const programPath = (program: string): string =>
  (process.env['PATH'] ?? '').split(delimiter).map((folder) => join(folder, program)).find((path) => existsSync(path)) ?? program

/** The same for tests that run one after another. */
export const serialTestWith = (...paths: ReadonlyArray<string>): SkipFn => (paths.every((path) => existsSync(path)) ? test.serial : test.serial.skip)

type Body = (t: ExecutionContext) => Promise<void> | void

const isDue = (title: string): boolean => !isSkippedHere(fileURLToPath(test.meta.file), title)

/** `test`, in suites that run on several kinds of stores; what this kind cannot run is skipped by its name. */
export const testOnChosenStores = (title: string, body: Body): void => (isDue(title) ? test : test.skip)(title, body)

/** The same for tests that run one after another. */
export const serialTestOnChosenStores = (title: string, body: Body): void => (isDue(title) ? test.serial : test.serial.skip)(title, body)

/** Models that are not part of the project: STENOLOG_MODELS_DIR, or the folder beside the checkout. */
export const sharedModel = (name: string): string => `${process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models'}/${name}`
