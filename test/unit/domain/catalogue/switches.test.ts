import test from 'ava'
import type { CatalogueEvent } from '../../../../domain/catalogue/events.ts'
import { switchesDecider } from '../../../../domain/catalogue/switches.ts'
import { specify } from '../../../support/tools/specify.ts'
import { after } from '../../../support/events/sample-events.ts'

const at = after(0)
const modelSwitched = (active: boolean): CatalogueEvent => ({ type: 'ModelSwitched', data: { modelId: 6, active, at } })

test('models, languages and pairs are switched separately, each by its own id', (t) => {
  const { given } = specify(t, switchesDecider)
  given().when({ kind: 'model', id: 6, active: false, at }).thenEvents(modelSwitched(false))
  given(modelSwitched(false))
    .when({ kind: 'language', id: 6, active: false, at })
    .thenEvents({ type: 'LanguageSwitched', data: { languageId: 6, active: false, at } })
  given(modelSwitched(false))
    .when({ kind: 'translation', id: 6, active: false, at })
    .thenEvents({ type: 'TranslationPairSwitched', data: { pairId: 6, active: false, at } })
  given(modelSwitched(false)).when({ kind: 'model', id: 7, active: false, at })
    .thenEvents({ type: 'ModelSwitched', data: { modelId: 7, active: false, at } })
})

test('all models, languages and pairs are active at first; a command without a change makes no event', (t) => {
  const { given } = specify(t, switchesDecider)
  given().when({ kind: 'model', id: 6, active: true, at }).thenNothing()
  given(modelSwitched(false)).when({ kind: 'model', id: 6, active: false, at }).thenNothing()
  given(modelSwitched(false)).when({ kind: 'model', id: 6, active: true, at }).thenEvents(modelSwitched(true))
  given(modelSwitched(false), modelSwitched(true)).when({ kind: 'model', id: 6, active: true, at }).thenNothing()
})

test('ModelListed events in the same stream activate or deactivate no model', (t) => {
  const { given } = specify(t, switchesDecider)
  const listed: CatalogueEvent = { type: 'ModelListed', data: { modelId: 6, name: 'demo-en', at } }
  given(listed).when({ kind: 'model', id: 6, active: true, at }).thenNothing()
})
