import { createApp } from 'vue'

import App from './App.vue'
import { i18n } from './locale'
import { router } from './router'
import './theme.css'

createApp(App).use(router).use(i18n).mount('#app')
