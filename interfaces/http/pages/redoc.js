'use strict'

// The description lies beside this page, whatever prefix it is reached under and however its address ends.
const description = new URL('openapi.json', location.origin + location.pathname.replace(/\/+$/, ''))

// Search would need a worker made of text, which the policy of this page forbids.
window.Redoc.init(description.href, { disableSearch: true, hideLoading: true }, document.getElementById('description'))
