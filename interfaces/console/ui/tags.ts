import { type Attributes, type ComponentChildren, type ComponentType, h, type JSX, type VNode } from 'preact'

type Tags = JSX.IntrinsicElements
export type Data = Readonly<Record<`data-${string}`, string>>

/** Creates a function for an element: attributes (or null), then children. A wrong attribute is a type error. */
const tag =
  <K extends keyof Tags>(name: K) =>
  (attributes: (Tags[K] & Data) | null, ...children: ReadonlyArray<ComponentChildren>): VNode =>
    h<Attributes>(name, attributes, ...children)

/** Creates a function for a component, called like the functions for elements. */
export const view =
  <P extends object>(component: ComponentType<P>) =>
  (props: P & Attributes): VNode =>
    h(component as ComponentType<object>, props)

export const a = tag('a')
export const bdi = tag('bdi')
export const button = tag('button')
export const code = tag('code')
export const dd = tag('dd')
export const details = tag('details')
export const dialog = tag('dialog')
export const div = tag('div')
export const dl = tag('dl')
export const dt = tag('dt')
export const fieldset = tag('fieldset')
export const form = tag('form')
export const h1 = tag('h1')
export const h2 = tag('h2')
export const h3 = tag('h3')
export const header = tag('header')
export const iframe = tag('iframe')
export const input = tag('input')
export const label = tag('label')
export const legend = tag('legend')
export const li = tag('li')
export const main = tag('main')
export const meter = tag('meter')
export const nav = tag('nav')
export const option = tag('option')
export const p = tag('p')
export const pre = tag('pre')
export const progress = tag('progress')
export const section = tag('section')
export const select = tag('select')
export const span = tag('span')
export const strong = tag('strong')
export const summary = tag('summary')
export const table = tag('table')
export const tbody = tag('tbody')
export const td = tag('td')
export const th = tag('th')
export const thead = tag('thead')
export const time = tag('time')
export const tr = tag('tr')
export const ul = tag('ul')
