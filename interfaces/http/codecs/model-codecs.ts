import * as t from 'io-ts'
import { type ModelOption, optionsOf } from '../../../application/catalogue/model-options.ts'
import type { Model } from '../../../application/ports/catalogue.ts'
import { object } from '../../../domain/shared/codecs.ts'
import { modelMembers, presentModel } from './presenters.ts'

const OPTIONS: Readonly<Record<ModelOption, null>> =
  { auto: null, translate: null, words: null, prompt: null, hotwords: null }
export const modelOptions = t.readonlyArray(t.keyof(OPTIONS))

/** A model in the list. `options` is absent with COMPAT_STRICT. */
export const listedModelView = object(modelMembers, { options: modelOptions }, 'ListedModel')

/** Presents a model with the options that it supports. */
export const presentListedModel = (model: Model, strict: boolean): t.TypeOf<typeof listedModelView> => ({
  ...presentModel(model),
  ...(!strict && { options: optionsOf(model) }),
})
