import { existsSync } from 'node:fs'
import test from 'ava'
import type { SkipFn } from 'ava'

/** `test`, or `test.skip` where a path that the test needs is absent: the report then names it as skipped. */
export const testWith = (...paths: ReadonlyArray<string>): SkipFn => (paths.every((path) => existsSync(path)) ? test : test.skip)

/** The same for tests that run one after another. */
export const serialTestWith = (...paths: ReadonlyArray<string>): SkipFn => (paths.every((path) => existsSync(path)) ? test.serial : test.serial.skip)

/** Models that are not part of the project: STENOLOG_MODELS_DIR, or the folder beside the checkout. */
export const sharedModel = (name: string): string => `${process.env['STENOLOG_MODELS_DIR'] ?? '../shared/models'}/${name}`
